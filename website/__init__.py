"""What makes the project's site: its pages from Markdown, its rules' pages, the interface, and the playground."""
