"""Schedds: the protocol, the embedded queue, the follower of a log, the live adapter, and the crontab bookkeeping.

``crondor.schedd_adapter`` has the public names; modules are imported when first used.
"""
