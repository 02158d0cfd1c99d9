"""What is wrong with a job router's configuration, or will surprise: rules as those of ``crondor check``.

``check_routes(configuration)`` gives Findings, each under a stable code (CRN6..).
"""

from crondor.router.rules.engine import RULES, CheckedRoutes, check_routes
from crondor.router.rules.pages import page
from crondor.router.rules.subject import CheckedTable

__all__ = ["RULES", "CheckedRoutes", "CheckedTable", "check_routes", "page"]
