"""Logs are one event a line, with ids, in two shapes."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator

import pytest
import structlog

from ocrsite.logs import configure_structlog, logging_config


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Everything that the root handler writes, as JSON; the former handlers come back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    logging.config.dictConfig(logging_config("json", "INFO"))
    configure_structlog()
    stream = io.StringIO()
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    root.handlers[:], root.level = handlers, level


def test_an_event_is_one_json_line_with_what_is_bound(written: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(request_id="abc12345"):
        structlog.get_logger("stet").info("page read", document=7)
    lines = written.getvalue().splitlines()
    assert len(lines) == 1
    event = json.loads(lines[0])
    assert event["event"] == "page read"
    assert (event["request_id"], event["document"], event["level"], event["logger"]) == ("abc12345", 7, "info", "stet")
    assert event["timestamp"].endswith("Z")


def test_a_librarys_line_has_the_ids_too(written: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(task="read_page"):
        logging.getLogger("some.library").warning("disk is %s", "slow")
    event = json.loads(written.getvalue())
    assert (event["event"], event["task"], event["level"]) == ("disk is slow", "read_page", "warning")


def test_what_is_below_the_level_is_not_written(written: io.StringIO) -> None:
    structlog.get_logger("stet").debug("detail")
    assert written.getvalue() == ""


def test_the_console_shape_is_for_people() -> None:
    config = logging_config("console", "DEBUG")
    renderer = config["formatters"]["structured"]["processors"][-1]
    assert isinstance(renderer, structlog.dev.ConsoleRenderer)
    assert config["root"]["level"] == "DEBUG"


def test_a_refused_request_is_told_once_by_the_middleware_and_a_crash_keeps_its_trace(written: io.StringIO) -> None:
    logging.getLogger("django.request").warning("Not Found: /x")
    assert written.getvalue() == ""
    try:
        raise ValueError("boom")
    except ValueError:
        logging.getLogger("django.request").exception("Internal Server Error: /x")
    assert "ValueError" in json.loads(written.getvalue())["exception"]
