"""Two versions on one frozen set: measured once each, compared field by field, weighted by what errors cost."""

from pathlib import Path

import pytest

from review.models import EvaluationComparison, EvaluationRun
from review.selectors.access import SYSTEM
from review.selectors.evaluation import Compared, newest_compared
from review.tasks_comparison import compare_versions, costs_of
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, worse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})


def test_a_field_that_falls_blocks_and_one_that_stands_does_not(cast: Cast, tmp_path: Path) -> None:
    kept = freeze(cast, tmp_path / "set", n=3)
    stored = compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=worse(cast))
    assert (stored.is_whole, stored.is_blocked, stored.results["fallen"]) == (True, True, ["/total"])
    total, date = stored.results["fields"]["/total"], stored.results["fields"]["/date"]
    assert (total["n"], total["accuracy_a"], total["accuracy_b"], total["n_lost"], total["p"]) == (3, 1.0, 0.0, 3, 0.25)
    assert (date["n_lost"], date["n_won"], date["is_fallen"]) == (0, 0, False)
    found, verdict = newest_compared(cast.document_type, champion().pk, worse(cast).pk)
    assert (found, verdict) == (kept, Compared(stored.pk, stored.results, is_blocked=True))
    same = compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=as_good(cast))
    assert not same.is_blocked


def test_a_version_that_was_measured_is_not_measured_again_unless_asked(cast: Cast, tmp_path: Path) -> None:
    kept = freeze(cast, tmp_path / "set")
    compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=worse(cast))
    assert EvaluationRun.objects.count() == 2
    compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=as_good(cast))
    assert EvaluationRun.objects.count() == 3
    compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=as_good(cast), is_fresh=True)
    assert EvaluationRun.objects.count() == 5


def test_a_part_of_the_set_is_compared_but_does_not_count(cast: Cast, tmp_path: Path) -> None:
    kept = freeze(cast, tmp_path / "set", n=3)
    stored = compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=as_good(cast), limit=2)
    assert (stored.results["n_documents"], stored.is_whole) == (2, False)
    assert newest_compared(cast.document_type, champion().pk, as_good(cast).pk) == (kept, None)
    assert EvaluationComparison.objects.count() == 1


def test_what_an_error_costs_is_said_by_the_schema(cast: Cast, tmp_path: Path) -> None:
    version = cast.document_type.active_version
    assert version is not None
    version.schema["properties"]["total"]["x-error-cost"] = 7.5
    version.save()
    kept = freeze(cast, tmp_path / "set")
    assert costs_of(kept, {"/total", "/date", "/nothing"}) == {"/total": 7.5, "/date": 1.0}
    stored = compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=worse(cast))
    assert stored.results["cost"]["point"] == 7.5
    assert stored.results["fields"]["/total"]["cost"] == 7.5
