"""The ClassAd language."""
