"""What the commands are, read from their options and JSON Schemas: manual pages, completions, pages of the site.

No part of the wheel: its build and that of the site import this.
"""
