"""Short ways to ask what is found in a description, and to cure it."""

from crondor.diagnostics import Source
from crondor.lint import CheckReport, CheckSettings, Finding, check_submit
from crondor.lint.submit import fixed

NOW = 1_795_305_600  # 2026-11-22 00:00 UTC
SETTINGS = CheckSettings(NOW, "UTC")


def report(*lines: str, queue: str = "queue", settings: CheckSettings = SETTINGS) -> CheckReport:
    """Check a description of some lines, with a queue statement at its end."""
    return check_submit(Source("\n".join((*lines, queue)) + "\n", "job.sub"), settings)


def found(code: str, *lines: str, queue: str = "queue", settings: CheckSettings = SETTINGS) -> list[Finding]:
    """Return the findings of one rule."""
    return [f for f in report(*lines, queue=queue, settings=settings).findings if f.diagnostic.code == code]


def places(code: str, *lines: str, queue: str = "queue", settings: CheckSettings = SETTINGS) -> list[str]:
    """Return the pieces that the findings of one rule point at."""
    findings = found(code, *lines, queue=queue, settings=settings)
    return [f.diagnostic.span.text if f.diagnostic.span else "" for f in findings]


def cured(code: str, *lines: str, queue: str = "queue") -> str:
    """Return the description after the cures of one rule, which then finds nothing; all else stays as it is."""
    before = report(*lines, queue=queue)
    after = fixed(
        before, SETTINGS, lambda findings: [f for f in findings if f.diagnostic.code == code], unsafe=True
    ).report
    assert any(f.diagnostic.code == code for f in before.findings)
    assert not any(f.diagnostic.code == code for f in after.findings)
    return after.source.text
