"""The rules, by subject; each module is found by `crondor.lint.submit` or `crondor.lint.routes`."""
