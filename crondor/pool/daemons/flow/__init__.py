"""What each daemon sees of a job, and the messages by which it comes to know: see ``flow.Flow``."""
