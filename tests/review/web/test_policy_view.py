"""What a form of thresholds says as rules, and what wrong rules say back to a person."""

from typing import Any

import pytest
from django.http import QueryDict

from review.selectors.what_if import routed_documents
from review.web.policy_view import field_paths, policy_page, problem_in_words, rules_in
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan

pytestmark = pytest.mark.django_db


def form(**values: str) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data[name.replace("__", ":")] = value
    return data


def test_fields_that_are_as_the_default_are_left_to_it() -> None:
    data = form(auto__="0.9", review__="0.6")
    data.update({"auto:/total": "0.90", "review:/total": "0.6", "auto:/date": "0.95", "review:/date": "0.6"})
    rules = rules_in(data, ["/total", "/date"])
    assert rules["default"] == {"auto": 0.9, "review": 0.6}
    assert rules["fields"] == {"/date": {"auto": 0.95, "review": 0.6}}


@pytest.mark.parametrize(
    ("text", "auto", "review"),
    [
        ("", None, ""),
        ("  ", None, ""),
        ("0.5", 0.5, 0.5),
        ("1e-1", 0.1, 0.1),
        ("nan", "nan", "nan"),
        ("inf", "inf", "inf"),
        ("half", "half", "half"),
        ("0,5", "0,5", "0,5"),
    ],
)
def test_no_first_limit_is_never_and_what_is_no_number_stays_as_typed(text: str, auto: object, review: object) -> None:
    assert rules_in(form(auto__=text, review__=text), [])["default"] == {"auto": auto, "review": review}


def test_shares_are_read_and_missing_ones_are_refused_later() -> None:
    rules = rules_in(form(audit_auto_share="0.02"), [])
    assert rules["audit_auto_share"] == 0.02
    assert rules["audit_sampled_share"] == ""


@pytest.mark.parametrize(
    ("pointer", "message", "words"),
    [
        ("/fields/~1total/auto", "must be a number from 0 to 1", "Total: give a number from 0 to 1"),
        ("/fields/~1gone/auto", "must be a number from 0 to 1", "fields: give a number from 0 to 1"),
        ("/default/review", "must not be above auto", "every other field: the limit for a look lies above"),
        ("/full_examination_share", "must be a number above 0 and at most 1", "share of doubtful documents"),
        ("", "must be an object", ": must be an object"),
    ],
)
def test_each_problem_names_its_field_in_words(cast: Cast, pointer: str, message: str, words: str) -> None:
    assert problem_in_words({"pointer": pointer, "message": message}, cast.document_type).startswith(words)


def test_a_type_without_a_version_has_no_fields(cast: Cast) -> None:
    cast.document_type.active_version = None
    assert field_paths(cast.document_type) == []


def test_the_salt_of_the_draws_is_kept_and_no_wish_can_change_it(cast: Cast) -> None:
    wished: dict[str, Any] = {**factories.RULES, "salt": "another"}
    page = policy_page(cast.document_type, routed_documents(cast.document_type), wished)
    assert page.rules["salt"] == "test"
    assert not page.is_changed


def test_the_headline_is_the_field_whose_errors_cost_most_among_the_known(cast: Cast) -> None:
    page = policy_page(cast.document_type, routed_documents(cast.document_type), None)
    assert page.headline is None
    assert [field.path for field in page.fields] == ["", "/company", "/date", "/total"]


def test_the_chart_holds_the_counts_of_the_table(cast: Cast) -> None:
    for confidence in (0.95, 0.7, 0.7):
        plan = FieldPlan(confidence=confidence, reasons=["low_confidence"])
        factories.make_routed(cast.document_type, {"/total": plan})
    wished = {**factories.RULES, "default": {"auto": 0.6, "review": 0.6}, "audit_auto_share": 0.05}
    page = policy_page(cast.document_type, routed_documents(cast.document_type), wished)
    assert page.chart["rows"] == [
        {"name": "in force", "counts": (1, 2, 0)},
        {"name": "in the form", "counts": (3, 0, 0)},
    ]
    assert page.chart["bands"] == ["sure", "fairly sure", "doubtful"]
    assert page.is_changed
    assert [bands.stored_share for bands in page.documents] == [1.0, 1.0]
    assert [bands.n_looked_at for bands in page.documents] == pytest.approx([0.0, 3 * 0.05], abs=1e-6)
