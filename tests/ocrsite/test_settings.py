"""What the settings promise: a bounded queue, a strict policy for pages, a database that waits for its turn."""

from django.conf import settings
from django.db import connection
from django.test import Client

from tests.left_out import database_vendor


def test_a_task_is_never_handed_out_again_while_it_may_still_be_at_work() -> None:
    cluster = settings.Q_CLUSTER
    timeout, retry = cluster["timeout"], cluster["retry"]
    assert isinstance(timeout, int)
    assert isinstance(retry, int)
    assert timeout < settings.STET_CLAIM_SECONDS < retry
    assert cluster["max_attempts"] == settings.STET_MAX_ATTEMPTS == 3


def test_pages_may_run_nothing_but_their_own_scripts(db: None) -> None:
    policy = Client().get("/sign-in/", follow=True).headers["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";") if part.strip())
    assert directives["default-src"] == "'self'"
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert directives["frame-ancestors"] == "'none'"


def test_sqlite_keeps_what_was_committed_and_waits_for_its_turn(db: None) -> None:
    if database_vendor() != "sqlite":
        assert settings.DATABASES["default"]["CONN_HEALTH_CHECKS"]
        return
    with connection.cursor() as cursor:
        values = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "busy_timeout")
        }
    assert values["synchronous"] == 2
    assert values["busy_timeout"] == 30_000
    assert values["journal_mode"] in {"wal", "memory"}


def test_uploads_go_to_disk_from_the_first_byte() -> None:
    assert settings.FILE_UPLOAD_HANDLERS == ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
