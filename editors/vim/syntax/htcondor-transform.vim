" Transform rules of HTCondor.
if exists("b:current_syntax")
  finish
endif
runtime! syntax/htcondor-submit.vim
unlet! b:current_syntax
syntax match htcondorKeyword "^\s*\%(SET\|DEFAULT\|EVALSET\|EVALMACRO\|COPY\|RENAME\|DELETE\|NAME\|REQUIREMENTS\|UNIVERSE\|TRANSFORM\)\>\ze\s"
let b:current_syntax = "htcondor-transform"
