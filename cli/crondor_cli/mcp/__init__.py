"""`crondor mcp`: tools for language models."""
