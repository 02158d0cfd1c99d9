// What stands in the editors at first.
export const EXAMPLES = {
  "schedule-text": "30 7 * * 1-5",
  "submit-text": `executable = weekly.sh
log        = weekly.log

cron_minutes     = 0
cron_hour        = 6
cron_day_of_week = MON
cron_prep_time   = 600
cron_window      = 900

on_exit_remove = false
queue
`,
  "route-config": `JOB_ROUTER_ROUTE_NAMES = Slurm, ARC

JOB_ROUTER_ROUTE_Slurm @=end
  REQUIREMENTS RequestMemory <= 4096
  UNIVERSE GRID
  GridResource = "batch slurm"
@end

JOB_ROUTER_ROUTE_ARC @=end
  REQUIREMENTS RequestMemory > 4096
  UNIVERSE GRID
  GridResource = "arc https://arc.example.org"
@end

JOB_ROUTER_SOURCE_JOB_CONSTRAINT = WantJobRouter
`,
  "route-jobs": `ClusterId = 71
ProcId = 0
Owner = "alice"
JobStatus = 1
JobUniverse = 5
RequestMemory = 2048
WantJobRouter = true
`,
};
