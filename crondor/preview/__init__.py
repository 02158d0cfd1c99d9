"""When jobs run, for people and programs: jobs of files and queues, their runs in both readings, facts."""
