"""What recurrence stands on: walks on the local clock, through a zone and as the schedd does, and their reasons."""
