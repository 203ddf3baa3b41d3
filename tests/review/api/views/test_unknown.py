"""What is answered where there is nothing, and to whom Stet does not answer."""

import io
import logging
import logging.config

import pytest
from django.test import Client

from ocrsite.logs import logging_config

WRONG = {"HTTP_HOST": "elsewhere.example"}


@pytest.mark.django_db
def test_the_api_names_a_wrong_host_as_a_problem(client: Client) -> None:
    answer = client.get("/api/v1/projects/", **WRONG)  # type: ignore[arg-type]  # the stub takes headers for flags
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["code"] == "wrong_host"
    assert "STET_ALLOWED_HOSTS" in answer.json()["detail"]


@pytest.mark.django_db
def test_a_page_names_a_wrong_host_in_a_sentence(client: Client) -> None:
    answer = client.get("/", **WRONG)  # type: ignore[arg-type]
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert "does not answer under this host name" in answer.content.decode()


@pytest.mark.django_db
def test_a_wrong_host_leaves_one_line_in_the_log_and_no_trace(client: Client) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        logging.config.dictConfig(logging_config("json", "INFO"))
        stream = io.StringIO()
        root.handlers[0].setStream(stream)  # type: ignore[attr-defined]  # a StreamHandler, as configured
        client.get("/", **WRONG)  # type: ignore[arg-type]
    finally:
        root.handlers[:], root.level = handlers, level
    assert "Traceback" not in stream.getvalue()
    assert sum("Invalid HTTP_HOST" in line for line in stream.getvalue().splitlines()) == 1
