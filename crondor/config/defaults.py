"""What HTCondor 25.14 takes for a knob that nobody sets, as far as a job router's configuration looks at it.

HTCondor: src/condor_utils/param_info.in.
"""

from __future__ import annotations

from collections.abc import Mapping

DEFAULTS: Mapping[str, str] = {
    "arch": "X86_64",
    "islinux": "true",
    "iswindows": "false",
    "job_router": "$(LIBEXEC)/condor_job_router",
    "job_router_lock": "$(LOCK)/$(JOB_ROUTER_NAME)Lock",
    "job_router_log": "$(LOG)/JobRouterLog",
    "job_router_name": "jobrouter",
    "job_router_polling_period": "10",
    "job_router_round_robin_selection": "false",
    "max_job_mirror_update_lag": "600",
    "max_periodic_expr_interval": "1200",
    "opsys": "LINUX",
    "periodic_expr_interval": "60",
    "periodic_expr_timeslice": "0.01",
}
"""By lower-case name."""
