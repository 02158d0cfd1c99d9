"""What a pool is: its machines, intervals, losses, and how programs behave."""
