"""One field over time and by confidence, and what was read wrong: the answer first, then charts with their tables."""

import csv
import io
import json
import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.actions.accuracy import roll_up_reviews
from review.models import DocumentType, FieldPrediction, FieldReview
from tests import factories
from tests.conftest import Cast
from tests.review.labels import Label, add_labels

pytestmark = pytest.mark.django_db


def get(client: Client, cast: Cast, name: str, query: str = "") -> str:
    return client.get(reverse(name, args=[cast.project.slug]) + query).content.decode()


def table(response: Any) -> list[list[str]]:
    assert isinstance(response, HttpResponse)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    return list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))


def chart(html: str, kind: str) -> dict[str, Any]:
    found = re.search(rf'data-chart="{kind}"[^>]*data-values="([^"]*)"', html)
    assert found is not None
    values: dict[str, Any] = json.loads(unescape(found[1]))
    return values


def label_some(document_type: DocumentType, path: str = "/total") -> None:
    add_labels(
        document_type, [Label(path, confidence=0.92, is_correct=i != 0, inclusion_probability=0.5) for i in range(10)]
    )
    roll_up_reviews()


def correct(cast: Cast, read: str = "9.O0", truth: str = "9.00", path: str = "/total") -> FieldReview:
    (review,) = add_labels(cast.document_type, [Label(path, is_correct=False)])
    FieldReview.objects.filter(pk=review.pk).update(predicted_value=read, value=truth)
    return review


def test_nothing_checked_says_so(manager: Client, cast: Cast) -> None:
    html = get(manager, cast, "field_accuracy")
    assert "Nobody has checked a value of" in html
    assert "data-chart" not in html


def test_the_first_line_is_the_fields_accuracy_with_its_interval(manager: Client, cast: Cast) -> None:
    label_some(cast.document_type)
    html = get(manager, cast, "field_accuracy", "?field=receipt:/total")
    assert "Of all values of “Total” that were read, <strong>90.0 %</strong> were right" in html
    assert "10 checked" in html
    assert html.index('class="answer"') < html.index("data-chart") < html.index("<table")
    html = get(manager, cast, "field_accuracy", "?field=receipt:/total&population=unseen")
    assert "Of the values of “Total” stored unseen" in html


def test_charts_and_tables_hold_the_same_figures(manager: Client, cast: Cast) -> None:
    label_some(cast.document_type)
    html = get(manager, cast, "field_accuracy", "?field=receipt:/total")
    (series,) = chart(html, "trend")["series"]
    (point,) = series["points"]
    assert point[1] == pytest.approx(0.9)
    assert html.count(series["name"]) == 4
    ((promised, kept, _lower, _upper, n),) = chart(html, "reliability")["points"]
    assert (promised, kept, n) == (pytest.approx(0.92), pytest.approx(0.9), 10)
    assert html.count("90.0 %") == 3


def test_the_trend_and_the_reliability_come_as_files(manager: Client, cast: Cast) -> None:
    label_some(cast.document_type)
    address = reverse("field_accuracy", args=[cast.project.slug]) + "?field=receipt:/total&format="
    header, row = table(manager.get(address + "trend"))
    assert header == ["engine", "day", "right", "lower", "upper", "n"]
    assert float(row[2]) == pytest.approx(0.9)
    assert row[5] == "10"
    header, row = table(manager.get(address + "reliability"))
    assert row[0] == "0.90-0.95"
    assert float(row[1]) == pytest.approx(0.92)


@pytest.mark.parametrize("query", ["?field=nothing:/total", "?field=receipt:/nothing", "?field=x", "?population=all"])
@pytest.mark.parametrize("name", ["field_accuracy", "errors"])
def test_a_choice_that_does_not_exist_shows_the_first(manager: Client, cast: Cast, name: str, query: str) -> None:
    assert manager.get(reverse(name, args=[cast.project.slug]) + query).status_code == 200


def test_what_is_shown_without_a_choice_stands_in_the_choice(manager: Client, cast: Cast) -> None:
    html = get(manager, cast, "field_accuracy")
    chosen = re.findall(r'<option value="(receipt:[^"]+)" selected>([^<]+)<', html)
    assert len(chosen) == 1
    assert f"“{chosen[0][1].split(' · ')[1]}”" in html


def test_the_page_begins_with_the_type_that_was_checked_last(manager: Client, cast: Cast) -> None:
    bill = factories.make_document_type(cast.project, "bill")
    add_labels(cast.document_type, [Label()])
    chosen = re.compile(r'<option value="(\w+):[^"]+" selected>')
    assert chosen.findall(get(manager, cast, "field_accuracy")) == ["receipt"]
    add_labels(bill, [Label()])
    assert chosen.findall(get(manager, cast, "field_accuracy")) == ["bill"]


def test_a_project_without_types_has_pages_that_say_so(manager: Client, cast: Cast) -> None:
    DocumentType.objects.filter(pk=cast.document_type.pk).update(project=cast.other_project, slug="moved")
    assert "no document type with fields" in get(manager, cast, "field_accuracy")
    assert "Nothing was corrected here yet" in get(manager, cast, "errors")


def test_corrections_are_shown_with_their_crop_and_lead_to_their_document(manager: Client, cast: Cast) -> None:
    review = correct(cast)
    html = get(manager, cast, "errors")
    assert "<del>9.O0</del>" in html
    assert "<ins>9.00</ins>" in html
    crop = reverse("api:page_crop", args=[cast.project.slug, review.document_id, 1])
    assert f'src="{crop}?bbox=0.0900,0.0900,0.4100,0.2100"' in html
    assert f'href="{reverse("document", args=[cast.project.slug, review.document_id])}"' in html


def test_a_crop_never_leaves_the_page(manager: Client, cast: Cast) -> None:
    correct(cast)
    FieldPrediction.objects.update(bbox=[0.0, 0.995, 0.999, 1.0])
    assert "?bbox=0.0000,0.9850,1.0000,1.0000" in get(manager, cast, "errors")


def test_a_correction_without_a_place_says_so(manager: Client, cast: Cast) -> None:
    correct(cast)
    FieldPrediction.objects.update(bbox=None)
    assert "no place found" in get(manager, cast, "errors")


def test_the_most_frequent_confusion_is_the_first_line(manager: Client, cast: Cast) -> None:
    for _ in range(2):
        correct(cast)
    correct(cast, "1B.00", "18.00")
    html = get(manager, cast, "errors")
    assert "The most frequent confusion in all fields: <strong>O</strong> for <strong>0</strong>, 2 times" in html
    assert "Receipt · Total" not in html.split("<form")[1].split("<option")[0]
    address = reverse("errors", args=[cast.project.slug])
    assert table(manager.get(f"{address}?format=confusions")) == [
        ["read", "truth", "n"],
        ["O", "0", "2"],
        ["B", "8", "1"],
    ]


def test_other_values_are_told_from_confused_characters(manager: Client, cast: Cast) -> None:
    correct(cast, "1.00", "987.65")
    assert "are other values, not characters" in get(manager, cast, "errors")


def test_a_field_is_looked_at_alone(manager: Client, cast: Cast) -> None:
    correct(cast, "9.O0", "9.00")
    correct(cast, "2018-12-2S", "2018-12-25", "/date")
    html = get(manager, cast, "errors", "?field=receipt:/date")
    assert "2018-12-2S" in html
    assert "9.O0" not in html
    assert "Show all" in html


def test_corrections_come_as_a_file_that_no_spreadsheet_runs(manager: Client, cast: Cast) -> None:
    correct(cast, "=1+1", "@9.00")
    rows = table(manager.get(reverse("errors", args=[cast.project.slug]) + "?format=csv"))
    assert rows[0][5:7] == ["read", "truth"]
    assert rows[1][5:7] == ["'=1+1", "'@9.00"]


def test_text_of_a_document_is_never_markup(manager: Client, cast: Cast) -> None:
    correct(cast, "<script>x</script>", "<script>y</script>")
    assert "<script>x" not in get(manager, cast, "errors")


def test_the_overview_leads_to_each_field_and_draws_a_heat_map(manager: Client, cast: Cast) -> None:
    label_some(cast.document_type)
    html = get(manager, cast, "accuracy")
    assert '?field=receipt:/total">Total</a>' in html
    values = chart(html, "heat")
    assert values["fields"] == ["Total"]
    assert values["buckets"] == ["0.90 – 0.95"]
    assert values["cells"][0][:3] == [0, 0, pytest.approx(0.9)]
    rows = table(manager.get(reverse("accuracy", args=[cast.project.slug]) + "?format=csv"))
    assert [row[2:4] for row in rows[1:]] == [["unseen", ""], ["reader", ""], ["reader", "0.90-0.95"]]


def test_the_pages_are_chinese_for_whoever_reads_chinese(manager: Client, cast: Cast, chinese: None) -> None:
    label_some(cast.document_type)
    correct(cast)
    manager.cookies["django_language"] = "zh-hans"
    assert "识别出的全部" in get(manager, cast, "field_accuracy", "?field=receipt:/total")
    assert "最常见的混淆" in get(manager, cast, "errors")


@pytest.mark.parametrize("name", ["field_accuracy", "errors"])
def test_the_pages_cost_the_same_queries_for_more_labels(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries, name: str
) -> None:
    label_some(cast.document_type)
    correct(cast)
    get(manager, cast, name)
    with CaptureQueriesContext(connection) as few:
        get(manager, cast, name, "?field=receipt:/total")
    n_queries = len(few)
    for path in ("/date", "/company", "/total"):
        label_some(cast.document_type, path)
        correct(cast)
    with django_assert_num_queries(n_queries):
        get(manager, cast, name, "?field=receipt:/total")
    assert n_queries == {"field_accuracy": 10, "errors": 8}[name]
