" DAG files of HTCondor.
if exists("b:current_syntax")
  finish
endif
runtime! syntax/htcondor-submit.vim
unlet! b:current_syntax
syntax match htcondorKeyword "\c^\s*\%(JOB\|FINAL\|PROVISIONER\|SERVICE\|SUBDAG EXTERNAL\|SPLICE\|INCLUDE\|SUBMIT-DESCRIPTION\|CATEGORY\|PARENT\|WEAK PARENT\|SCRIPT\|RETRY\|ABORT-DAG-ON\|VARS\|PRIORITY\|PRE[-_]SKIP\|TOLERANCE\|DONE\|MAXJOBS\|CONFIG\|DOT\|NODE_STATUS_FILE\|JOBSTATE_LOG\|SAVE_POINT_FILE\|SET_JOB_ATTR\|ENV\|REJECT\|CONNECT\|PIN_IN\|PIN_OUT\)\>"
let b:current_syntax = "htcondor-dag"
