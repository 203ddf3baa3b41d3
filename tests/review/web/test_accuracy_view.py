"""The accuracy page's rows: which field speaks first, and how intervals lie on their scale."""

import copy
from typing import Any

import pytest

from review.models import DocumentType, Project
from review.web.accuracy_view import WIDTH, accuracy_page
from tests import factories
from tests.review.web.rollups import roll_up

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db: None) -> Project:
    return factories.make_project("receipts")


@pytest.fixture
def receipt(project: Project) -> DocumentType:
    schema: dict[str, Any] = copy.deepcopy(factories.SCHEMA)
    schema["properties"]["total"]["x-error-cost"] = 100
    schema["properties"]["items"] = {
        "type": "array",
        "x-label": {"en": "Items"},
        "items": {
            "type": "object",
            "properties": {"price": {"type": "string", "x-label": {"en": "Price"}, "x-value-type": "amount"}},
        },
    }
    return factories.make_document_type(project, "receipt", schema)


def test_without_labels_there_is_nothing_to_show(project: Project, receipt: DocumentType) -> None:
    page = accuracy_page(project)
    assert (page.has_labels, page.headline, page.rows) == (False, None, [])


def test_the_field_whose_errors_cost_most_speaks_first(project: Project, receipt: DocumentType) -> None:
    for path in ("/company", "/total"):
        for population in ("unseen", "reader"):
            roll_up(receipt, path, 100 if path == "/total" else 900, 90, population)
    page = accuracy_page(project)
    assert page.headline is not None
    assert page.headline.label == "Total"


def test_of_fields_that_cost_the_same_the_best_known_speaks(project: Project, receipt: DocumentType) -> None:
    for path, n in (("/company", 50), ("/date", 500)):
        roll_up(receipt, path, n, n - 1)
        roll_up(receipt, path, n, n - 1, "reader")
    headline = accuracy_page(project).headline
    assert headline is not None
    assert headline.label == "Date"


def test_nothing_unseen_checked_leaves_the_headline_open(project: Project, receipt: DocumentType) -> None:
    roll_up(receipt, "/total", 10, 9, "reader")
    page = accuracy_page(project)
    assert page.has_labels
    assert page.headline is None
    assert page.rows[0].unseen is None
    assert page.rows[0].reader is not None


def test_rows_follow_the_schema_and_are_labelled_columns_too(project: Project, receipt: DocumentType) -> None:
    for path in ("/items/*/price", "/total", "/company", "/gone"):
        roll_up(receipt, path, 10, 9, "reader")
    assert [row.label for row in accuracy_page(project).rows] == ["Company", "Total", "Price", "/gone"]


def test_marks_lie_within_the_drawing_in_order(project: Project, receipt: DocumentType) -> None:
    for path, right in (("/company", 61), ("/date", 100), ("/total", 0)):
        roll_up(receipt, path, 100, right, "reader")
    for row in accuracy_page(project).rows:
        cell = row.reader
        assert cell is not None
        assert 0 <= cell.left <= cell.point <= cell.left + cell.length <= WIDTH + 0.2
        assert cell.lower <= cell.share <= cell.upper


def test_the_scale_begins_below_the_lowest_interval_and_ends_at_all(project: Project, receipt: DocumentType) -> None:
    roll_up(receipt, "/total", 1000, 990, "reader")
    page = accuracy_page(project)
    cell = page.rows[0].reader
    assert cell is not None
    assert page.scale_from == pytest.approx(0.95)
    assert cell.left == pytest.approx((cell.lower - 0.95) / 0.05 * WIDTH, abs=0.1)


def test_buckets_are_of_everything_that_was_read(project: Project, receipt: DocumentType) -> None:
    roll_up(receipt, "/total", 10, 9, "reader")
    roll_up(receipt, "/total", 5, 5, "unseen")
    [row] = accuracy_page(project).rows
    assert [(bucket, cell.n) for bucket, cell in row.buckets] == [("0.90-0.95", 10)]
