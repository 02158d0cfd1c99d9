"""The rules, by subject; `crondor.lint.submit` and `crondor.lint.routes` collect them."""
