"""Shared by the commands: options, settings, files, jobs, queues, tables, the screen."""
