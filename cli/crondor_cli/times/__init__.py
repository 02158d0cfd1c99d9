"""Times as people type and read them."""
