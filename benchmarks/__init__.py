"""What is measured, against whom, in one run."""
