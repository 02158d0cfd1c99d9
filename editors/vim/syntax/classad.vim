" ClassAds.
if exists("b:current_syntax")
  finish
endif
syntax case ignore

syntax match classadName "\%(^\|[;\[]\)\@<=\s*[A-Za-z_][A-Za-z0-9_]*\ze\s*=\%([=?!]\)\@!"
syntax match classadScope "\<\%(MY\|TARGET\|PARENT\)\ze\."
syntax match classadFunction "\<[A-Za-z_][A-Za-z0-9_]*\ze\s*("
syntax region classadString start=+"+ skip=+\\"+ end=+"+ oneline
syntax match classadNumber "\<\d\+\%(\.\d\+\)\?\%([eE][+-]\?\d\+\)\?\>"
syntax keyword classadConstant true false undefined error
syntax keyword classadOperator is isnt

highlight default link classadName Identifier
highlight default link classadScope Special
highlight default link classadFunction Function
highlight default link classadString String
highlight default link classadNumber Number
highlight default link classadConstant Constant
highlight default link classadOperator Operator

let b:current_syntax = "classad"
