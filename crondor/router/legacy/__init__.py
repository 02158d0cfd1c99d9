"""Routes written as ClassAds, which HTCondor read up to version 24."""
