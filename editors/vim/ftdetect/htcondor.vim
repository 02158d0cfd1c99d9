" Which files are HTCondor's; *.sub is taken from the robots of KUKA, which Vim would see there.
autocmd BufNewFile,BufRead *.sub,*.submit,*.jdl setlocal filetype=htcondor-submit
autocmd BufNewFile,BufRead condor_config,condor_config.*,*/condor/config.d/*,*/condor-ce/config.d/* setlocal filetype=htcondor-config
autocmd BufNewFile,BufRead *.xform,*.transform setlocal filetype=htcondor-transform
autocmd BufNewFile,BufRead *.dag setlocal filetype=htcondor-dag
autocmd BufNewFile,BufRead *.ad,*.ads,*.classad,*.classads setlocal filetype=classad
