"""When jobs run, as people and programs are shown it: jobs of files and queues, their runs in both readings, facts."""
