"""A run's answers come by page and attempt, with what was wrong; an OCR engine gave none."""

import pytest
from pytest_django import DjangoAssertNumQueries

from inference.types import RawAnswer
from review.actions.readings import keep_attempts
from review.models import ExtractionRun, Page, PageRead
from review.selectors.raw_answers import raw_answers_of
from review.selectors.reading import ReadingKey
from tests import factories
from tests.conftest import Cast
from tests.review.vlm import read_with_vlm

pytestmark = pytest.mark.django_db


def run_of(cast: Cast) -> ExtractionRun:
    """A routed document of three pages; its run has an OCR engine's version."""
    document = factories.make_routed(cast.document_type)
    for number in (2, 3):
        Page.objects.create(
            document=document, page_number=number, image="x", width=1, height=1, content_hash=f"page {number}"
        )
    return document.runs.select_related("engine_version").get()


def keep(cast: Cast, run: ExtractionRun, page: Page, *texts: str, code: str = "", digest: str = "") -> None:
    key = ReadingKey(cast.project.pk, run.engine_version_id, page.content_hash, digest)
    keep_attempts(key=key, attempts=[RawAnswer(text, "stop", n_tokens=7) for text in texts], error_code=code)


def test_answers_come_by_page_and_attempt(cast: Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = run_of(cast)
    run.engine_version = read_with_vlm(cast.project)
    first, second, _ = pages = list(Page.objects.order_by("page_number"))
    keep(cast, run, second, '{"total": ', '{"合计": "9.00"}', code="answer_cut_short")
    keep(cast, run, first, "{}")
    with django_assert_num_queries(1):
        found = raw_answers_of(cast.project.pk, run, pages)
    assert [(one.page_number, one.attempt, one.text, one.error_code) for one in found] == [
        (1, 1, "{}", ""),
        (2, 1, '{"total": ', "answer_cut_short"),
        (2, 2, '{"合计": "9.00"}', "answer_cut_short"),
    ]
    assert {(one.finish_reason, one.n_tokens) for one in found} == {("stop", 7)}


def test_an_answer_tells_the_run_that_asked_for_it(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = run_of(cast)
    run.engine_version = read_with_vlm(cast.project)
    first, *_ = pages = list(Page.objects.order_by("page_number"))
    page_read = PageRead.objects.get_or_create(run=run, page=first)[0]
    key = ReadingKey(cast.project.pk, run.engine_version_id, first.content_hash)
    for page_read_id in (None, page_read.pk):
        attempts = [RawAnswer("{}", "stop")]
        keep_attempts(key=key, attempts=attempts, error_code="", page_read_id=page_read_id)
    with django_assert_num_queries(1):
        assert [one.run_id for one in raw_answers_of(cast.project.pk, run, pages)] == [None, run.pk]
    page_read.delete()
    assert [one.run_id for one in raw_answers_of(cast.project.pk, run, pages)] == [None, None]


@pytest.mark.parametrize("other", ["project", "request", "pixels"])
def test_answers_to_something_else_are_not_shown(cast: Cast, other: str) -> None:
    run = run_of(cast)
    run.engine_version = read_with_vlm(cast.project)
    pages = list(Page.objects.order_by("page_number"))
    keep(cast, run, pages[0], "{}", digest="asked otherwise" if other == "request" else "")
    project_id = cast.other_project.pk if other == "project" else cast.project.pk
    assert raw_answers_of(project_id, run, pages[1:] if other == "pixels" else pages) == []


def test_a_run_of_an_ocr_engine_has_none_and_costs_nothing(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = run_of(cast)
    with django_assert_num_queries(0):
        assert raw_answers_of(cast.project.pk, run, []) == []
        assert raw_answers_of(cast.project.pk, None, []) == []
