"""What the commands share: options, settings, files, jobs, queues, tables, the screen."""
