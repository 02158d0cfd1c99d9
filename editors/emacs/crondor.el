;;; crondor.el --- HTCondor's files and crontabs with `crondor lsp'  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1"))

;;; Commentary:

;; (load "/path/to/crondor/editors/emacs/crondor.el")
;; Then M-x eglot in a submit file, or (add-hook 'htcondor-submit-mode-hook #'eglot-ensure).
;; Eglot comes with Emacs 29; for 28 it is a package.

;;; Code:

(defvar crondor-command '("crondor" "lsp")
  "The program of the language server, and its arguments.")

(defconst crondor--words
  '(("^[ \t]*#.*$" . font-lock-comment-face)
    ("^[ \t]*\\(queue\\|if\\|elif\\|else\\|endif\\|include\\|use\\)\\_>" 1 font-lock-keyword-face)
    ("^[ \t]*\\([+A-Za-z_][A-Za-z0-9_.]*\\)[ \t]*[+@]?=" 1 font-lock-variable-name-face)
    ("\\$\\$?[A-Za-z_]*([^()]*)" . font-lock-preprocessor-face)
    ("\\_<\\(true\\|false\\|undefined\\|error\\)\\_>" . font-lock-constant-face)))

(defconst crondor--rules
  '(("^[ \t]*\\(SET\\|DEFAULT\\|EVALSET\\|EVALMACRO\\|COPY\\|RENAME\\|DELETE\\|NAME\\|REQUIREMENTS\\|UNIVERSE\\|TRANSFORM\\)[ \t]"
     1 font-lock-keyword-face)))

(define-derived-mode htcondor-submit-mode prog-mode "HTCondor-Submit"
  "Submit descriptions of HTCondor."
  (setq-local comment-start "# ")
  (setq-local font-lock-defaults '(crondor--words nil t)))

(define-derived-mode htcondor-config-mode htcondor-submit-mode "HTCondor-Config"
  "Configurations of HTCondor."
  (setq-local font-lock-defaults (list (append crondor--rules crondor--words) nil t)))

(define-derived-mode htcondor-transform-mode htcondor-config-mode "HTCondor-Transform"
  "Transform rules of HTCondor.")

(define-derived-mode htcondor-dag-mode htcondor-submit-mode "HTCondor-DAG"
  "DAG files of HTCondor.")

(define-derived-mode classad-mode prog-mode "ClassAd"
  "ClassAds."
  (setq-local font-lock-defaults
              '((("^[ \t]*\\([A-Za-z_][A-Za-z0-9_]*\\)[ \t]*=" 1 font-lock-variable-name-face)
                 ("\\_<\\(true\\|false\\|undefined\\|error\\)\\_>" . font-lock-constant-face))
                nil t)))

(add-to-list 'auto-mode-alist '("\\.\\(sub\\|submit\\|jdl\\)\\'" . htcondor-submit-mode))
(add-to-list 'auto-mode-alist '("/condor_config\\(\\..*\\)?\\'" . htcondor-config-mode))
(add-to-list 'auto-mode-alist '("/condor\\(-ce\\)?/config\\.d/" . htcondor-config-mode))
(add-to-list 'auto-mode-alist '("\\.\\(xform\\|transform\\)\\'" . htcondor-transform-mode))
(add-to-list 'auto-mode-alist '("\\.dag\\'" . htcondor-dag-mode))
(add-to-list 'auto-mode-alist '("\\.\\(ads?\\|classads?\\)\\'" . classad-mode))

(defvar eglot-server-programs)

(with-eval-after-load 'eglot
  (dolist (mode '((htcondor-submit-mode . "htcondor-submit")
                  (htcondor-config-mode . "htcondor-config")
                  (htcondor-transform-mode . "htcondor-transform")
                  (htcondor-dag-mode . "htcondor-dag")
                  (classad-mode . "classad")))
    (put (car mode) 'eglot-language-id (cdr mode))
    (add-to-list 'eglot-server-programs (cons (car mode) crondor-command))))

(provide 'crondor)
;;; crondor.el ends here
