ClusterId = 71
ProcId = 0
Owner = "alice"
JobPrio = 0
JobStatus = 1
JobUniverse = 5
Cmd = "/home/alice/fit.sh"
RequestMemory = 2048
WantJobRouter = true

ClusterId = 72
ProcId = 0
Owner = "bob"
JobPrio = 0
JobStatus = 1
JobUniverse = 5
Cmd = "/home/bob/reconstruct"
RequestMemory = 8192
WantJobRouter = LastRejMatchTime =!= undefined

ClusterId = 73
ProcId = 0
Owner = "bob"
JobPrio = 0
JobStatus = 1
JobUniverse = 5
Cmd = "/home/bob/train.py"
RequestMemory = 16384
RequestGPUs = 1
WantJobRouter = true

ClusterId = 74
ProcId = 0
Owner = "alice"
JobPrio = 0
JobStatus = 5
JobUniverse = 5
Cmd = "/home/alice/fit.sh"
RequestMemory = 2048
WantJobRouter = true
