"""What a machine lacks is left out and said so at the end; with STET_NOTHING_LEFT_OUT=1 that fails the run.

Tests marked `postgres` or `sqlite` run on that database only; elsewhere they are not part of the suite, since the
gate runs it on both. Everything else that does not run is a skip with a reason, and counted here.
"""

import os

import pytest
from django.conf import settings


def database_vendor() -> str:
    """ "sqlite" or "postgres", by the settings."""
    return "sqlite" if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3") else "postgres"


class LeftOut:
    """Counts skips and deselects tests of the other database."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.n_other_database = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        other = "postgres" if database_vendor() == "sqlite" else "sqlite"
        away = [item for item in items if item.get_closest_marker(other)]
        if away:
            items[:] = [item for item in items if item not in away]
            config.hook.pytest_deselected(items=away)
        self.n_other_database = len(away)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.reasons.append(f"{report.nodeid}: {reason}")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.reasons:
            terminalreporter.write_line(f"Left out on this machine: {len(self.reasons)} tests", yellow=True)
            for reason in self.reasons:
                terminalreporter.write_line(f"  {reason}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.reasons and os.environ.get("STET_NOTHING_LEFT_OUT") == "1":
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
