"""`crondor config schema`: what commands print as JSON, as JSON Schemas."""
