"""crondor lsp."""
