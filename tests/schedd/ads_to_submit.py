"""Ads of all kinds to submit, and to be found in the queue as they were."""

from crondor.classad import Expression

ADS: dict[str, dict[str, object]] = {
    "args in v1": {"Args": 'one "two" three', "Env": "A=1;B=x y"},
    "args in v2": {"Arguments": "one 'two three'", "Environment": "A=1 B='x y'"},
    "both": {"Args": "one", "Arguments": "one", "Env": "A=1", "Environment": "A=1", "EnvDelim": ";"},
    "nothing": {},
    "texts": {"A": 'a "b" c', "B": "C:\\dir\\new", "C": "end\\", "D": "\ttab", "E": "é", "F": " blank ", "G": "# no"},
    "macros": {"A": "$(HOME) $ENV(HOME) $$(OpSys) $$([1+2]) $INT(x)", "B": "$", "C": "$$$(x) $(x)$(x)"},
    "kinds": {"A": 1, "B": -2.5, "C": 1e300, "D": float("inf"), "E": True, "F": [1, "b\\c", [2]], "G": {"a": {"b": 1}}},
    "expressions": {"A": Expression("a is b"), "B": Expression("undefined"), "C": Expression("x ? error : -y")},
    "requirements": {"Requirements": Expression('TARGET.OpSys == "LINUX"'), "Rank": Expression("TARGET.Mips")},
    "cron": {"CronMinute": "*/5", "CronWindow": 60, "DeferralTime": 1_795_195_625, "DeferralPrepTime": 300},
    "times": {"QDate": 5, "EnteredCurrentStatus": 6, "JobStatus": 5, "HoldReason": "because", "HoldReasonCode": 1},
    "streams": {"In": "in", "Out": "out", "Err": "err", "TransferIn": False, "WhenToTransferOutput": "ON_EXIT"},
    "grid": {"JobUniverse": 9, "GridResource": "batch slurm", "RoutedFromJobId": "1.0", "RoutedBy": "jr"},
    "local": {"JobUniverse": 12, "Iwd": "/home/alice", "JobPrio": 7, "RequestCpus": 2, "RequestFoos": 1},
    "java": {"JobUniverse": 10, "JarFiles": "a.jar"},
    "container": {"WantContainer": True, "ContainerImage": "a.sif", "WantDocker": True, "TransferInput": "http://a/b"},
}

# What the bindings cannot be brought to send as it is: it is edited afterwards.
ODD: dict[str, dict[str, object]] = {
    "macros in macros": {"A": "$(x:$(y)) $INT($(x))", "B": "$(DOLLAR)"},
    "gpus": {"RequestGPUs": 1, "GPUsMinCapability": 7.0, "RequireGPUs": Expression("Capability > 1")},
}
