"""Scheduled jobs on routes: for each coming run the route that takes it, and what becomes of the schedule there.

``plan`` makes a plan of jobs and a routing table; ``manner_of`` says what a copy does with the schedule in it, ``cure``
writes the lines that take it out. The public front is ``crondor.router_bridge``.
"""
