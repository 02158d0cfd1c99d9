"""A folder of submit files as the wanted state of a queue: what they differ in, and how a queue is changed.

``marks`` is what a job carries, so that its file is known; ``differences`` compares, ``applying`` changes the queue.
"""
