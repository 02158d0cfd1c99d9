"""What the commands are, as data: read from their options and schemas, and written as the pages in docs/cli.

This room reads all others, and is imported by none: `python -m crondor_cli.reference docs/cli` brings the pages up to
date.
"""
