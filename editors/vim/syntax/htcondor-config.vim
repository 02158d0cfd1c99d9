" Configurations of HTCondor; the values of routes and transforms have commands of their own.
if exists("b:current_syntax")
  finish
endif
runtime! syntax/htcondor-transform.vim
let b:current_syntax = "htcondor-config"
