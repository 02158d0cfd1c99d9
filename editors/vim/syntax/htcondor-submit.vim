" Submit descriptions of HTCondor.
if exists("b:current_syntax")
  finish
endif
syntax case ignore

syntax match htcondorComment "^\s*#.*$"
syntax match htcondorName "^\s*[A-Za-z_][A-Za-z0-9_.]*\ze\s*\%(+\|@\)\?="
syntax match htcondorAttribute "^\s*\%([+-]\|MY\.\)[A-Za-z_][A-Za-z0-9_]*\ze\s*="
syntax match htcondorKeyword "^\s*\%(queue\|if\|elif\|else\|endif\)\>"
syntax match htcondorKeyword "^\s*@\?\%(include\|use\|error\|warning\)\>\ze.*:"
syntax match htcondorQueueWord "\%(^\s*queue\>.*\)\@<=\<\%(in\|from\|matching\|files\|dirs\)\>"
syntax region htcondorString start=+"+ skip=+\\"+ end=+"+ oneline contains=htcondorMacro
syntax match htcondorMacro "\$\$\?\%([A-Za-z_]\+\)\?([^()]*\%(([^()]*)[^()]*\)*)"
syntax match htcondorNumber "\<\d\+\%(\.\d\+\)\?\%([KMGT]B\?\)\?\>"
syntax keyword htcondorConstant true false undefined error

highlight default link htcondorComment Comment
highlight default link htcondorName Identifier
highlight default link htcondorAttribute Type
highlight default link htcondorKeyword Statement
highlight default link htcondorQueueWord Statement
highlight default link htcondorString String
highlight default link htcondorMacro PreProc
highlight default link htcondorNumber Number
highlight default link htcondorConstant Constant

setlocal commentstring=#\ %s
let b:current_syntax = "htcondor-submit"
