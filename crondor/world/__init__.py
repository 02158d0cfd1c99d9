"""One schedd, a negotiator and starters: what happens to jobs between their submission and their last run.

``life`` has the World; ``settings`` what it is told about a pool, ``lengths`` the durations that are drawn. ``clock``
holds what is to come; whoever advances it says how late it is, so that the same world runs on a virtual clock and on
the real one. ``schedd_part`` keeps the queue, ``gate`` reads Requirements, ``negotiator`` gives slots away, ``starter``
decides at arrival, ``policy`` evaluates on_exit_* and periodic_*. ``outcome`` counts what became of the planned runs,
``advice`` finds the prep time and the window that would have been enough.

``session`` is the world on the real clock (``wall_clock``): its queue is on disk (``kept_queue``), its programs really
run (``programs`` is the seam, ``real_programs`` and ``job_process`` start them), each under a ``keeper`` that outlives
the session and leaves ``run_records``. ``job_logs`` writes the jobs' own user logs.
"""
