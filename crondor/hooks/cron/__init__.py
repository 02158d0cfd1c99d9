"""Programs that a startd or schedd runs for attributes of its own ads: configuration, schedule, output, merging."""
