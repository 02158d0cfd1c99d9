"""`crondor schema`: what commands print as JSON, as JSON Schemas."""
