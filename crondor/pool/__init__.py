"""One schedd, a negotiator and starters: what happens to jobs between their submission and their last run.

``settings`` is what a pool is told: ``lengths`` are the durations that are drawn, ``exits`` how programs end,
``machines`` what is divided among jobs, ``preemption`` when the pool takes it back, ``links`` over which daemons tell
each other. ``daemons`` has the Pool: ``clock`` holds what is to come, and whoever advances it says how late it is, so
that the same pool runs on a virtual clock and on the real one; ``core`` is what all parts share. ``schedd`` keeps the
queue, ``schedd_passes`` go over it, ``matching`` and ``negotiator`` bring jobs to machines, ``requirements`` reads
Requirements, ``dollar_dollar`` expands ``$$``, ``arrivals`` are decided by the time, ``starter`` is what shadow, startd
and starter do with a run, and ``crondor.job.policy`` says what a job's on_exit_* and periodic_* ask for. ``flow`` knows
what each daemon sees of a job, ``events`` who is told. ``simulate`` lets a span of virtual time pass: ``simulation``
finds the prep time and the window that would have been enough, ``outcome`` counts what became of the planned runs.

``local`` is the pool on the real clock: ``session`` has its queue on disk (``disk_queue``), its programs really run
(``daemons.programs`` is the seam, ``local.programs`` starts them), each under a ``supervisor`` that outlives the
session and leaves ``run_records``. ``user_log`` writes the jobs' own user logs.
"""
