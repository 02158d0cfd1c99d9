"""Tests with Prometheus are there where Prometheus is: no test is skipped, and none pretends to have run."""

import shutil

collect_ignore = [
    name
    for program, name in (("promtool", "test_promtool.py"), ("prometheus", "test_prometheus.py"))
    if shutil.which(program) is None
]
