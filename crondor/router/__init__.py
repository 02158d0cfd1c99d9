"""HTCondor's job router: routing tables, which route takes a job, and the copy that it makes."""
