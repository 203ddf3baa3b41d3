"""Structured logs: one event a line with the ids of request and task; never document text."""

import logging
from typing import Any

import structlog

_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class RaisedFilter(logging.Filter):
    """Lets through what was logged with an exception."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record carries an exception."""
        return record.exc_info is not None


class TracelessFilter(logging.Filter):
    """Takes the trace off: the message says all, and whoever knocks at a wrong address writes no pages into the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record through without its exception."""
        record.exc_info = None
        return True


def logging_config(log_format: str, level: str) -> dict[str, Any]:
    """Return Django's LOGGING: structlog renders its own events and those of libraries alike."""
    renderer = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED_PROCESSORS,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
            },
        },
        "filters": {"raised": {"()": RaisedFilter}, "traceless": {"()": TracelessFilter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"level": level},
            # Each request has its line, with its id, by `ocrsite.middleware`; here only what raised is of interest.
            "django.request": {"level": level, "filters": ["raised"]},
            "django.security": {"level": level, "filters": ["traceless"]},
            # Filters hold for one logger only; this is the child that speaks.
            "django.security.DisallowedHost": {"level": level, "filters": ["traceless"]},
            "django.channels.server": {"level": "WARNING"},
            "django-q": {"level": "WARNING", "handlers": ["stderr"], "propagate": False},
            "axes": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
        },
    }


def configure_structlog() -> None:
    """Send structlog through the standard library, so that one handler writes everything."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED_PROCESSORS,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


__all__ = ["configure_structlog", "logging_config"]
