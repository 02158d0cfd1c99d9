"""HTCondor's hooks: programs that daemons call, with ads on standard input and ads as the answer.

``runner`` calls any of them and bounds what they may do. ``router_hooks`` are the job router's four; ``cron`` the
programs that the startd and the schedd run for attributes of their own ads; ``fetch`` the startd's and the starter's
hooks for work that is fetched.
"""
