"""One schedd, a negotiator and starters: what happens to jobs between their submission and their last run.

``life`` has the World; ``settings`` what it is told about a pool, ``lengths`` the durations that are drawn, ``exits``
how programs end, ``machines`` what is divided among jobs, ``preemption`` when the pool takes it back. ``clock`` holds
what is to come; whoever advances it says how late it is, so that the same world runs on a virtual clock and on the real
one. ``core`` is what all parts share; ``passes`` are the schedd's, ``matching`` brings jobs to machines, ``execution``
is what happens there. ``schedd_part`` keeps the queue, ``gate`` reads Requirements, ``negotiator`` gives slots away,
``dollars`` expands ``$$``, ``starter`` decides at arrival, and ``crondor.job.policy`` says what a job's on_exit_* and
periodic_* ask for. ``flow`` knows what each daemon sees of a job, over the ``links``. ``outcome`` counts what became of
the planned runs, and ``simulation`` finds the prep time and the window that would have been enough.

``session`` is the world on the real clock (``wall_clock``): its queue is on disk (``kept_queue``), its programs really
run (``programs`` is the seam, ``real_programs`` and ``job_process`` start them), each under a ``keeper`` that outlives
the session and leaves ``run_records``. ``job_logs`` writes the jobs' own user logs.
"""
