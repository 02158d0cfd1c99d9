"""What spec stands on: the five fields, how each dialect reads them, their faults and their shortest text."""
