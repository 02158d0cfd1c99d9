ClusterId = 1
ProcId = 0
JobUniverse = 5
JobStatus = 1
Owner = "pilot"
Cmd = "/usr/bin/pilot"
x509UserProxyVOName = "atlas"

ClusterId = 1
ProcId = 1
JobUniverse = 5
JobStatus = 1
Owner = "bio"
Cmd = "/usr/bin/align"
WantWholeNode = true
