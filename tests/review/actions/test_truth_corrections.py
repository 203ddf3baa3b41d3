"""A wrong truth is corrected in a set's next version; what was frozen and measured before stays as it was."""

from pathlib import Path

import pytest
from django.utils import timezone

from review.actions.regression_sets import LabelledFile, import_regression_set
from review.actions.truth_corrections import correct_truth
from review.exceptions import ConflictError, InvalidInputError
from review.management.sroie import read_sroie
from review.models import AuditEntry, Document, EvaluationRun, RegressionSet
from review.selectors.access import SYSTEM, Actor
from review.selectors.evaluation import access_regression_set, items_of, newest_set_of, whole_run_of
from review.selectors.gate import gate_of, n_that_taught
from review.selectors.held_out import held_out_of
from review.selectors.second_looks import known_values
from review.tasks_comparison import compare_versions
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.factories import make_routed
from tests.review.conftest import Script
from tests.review.labelled import make_folder
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send

pytestmark = pytest.mark.django_db
REASON = "the page shows 9.00, I looked"


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})


@pytest.fixture
def files(tmp_path: Path) -> list[LabelledFile]:
    return read_sroie(make_folder(tmp_path / "set")).files


@pytest.fixture
def frozen(cast: Cast, files: list[LabelledFile]) -> RegressionSet:
    return import_regression_set(
        actor=Actor(cast.manager), project=cast.project, document_type=cast.document_type, name="test", files=files
    ).regression_set


def corrected(cast: Cast, frozen: RegressionSet, item: str = "002.jpg", reason: str = REASON) -> RegressionSet:
    return correct_truth(
        actor=Actor(cast.manager), regression_set=frozen, item_name=item, truth={"/total": "9.00"}, reason=reason
    )


def totals(version: RegressionSet) -> dict[str, str | None]:
    return {item.name: item.truth["/total"] for item in items_of(version)}


def test_the_next_version_has_the_right_truth_and_the_old_one_keeps_its_own(cast: Cast, frozen: RegressionSet) -> None:
    before = totals(frozen)
    right = corrected(cast, frozen)
    assert (str(right), right.replaces, right.n_items) == ("test v2", frozen, 2)
    assert totals(right) == before | {"002.jpg": "9.00"}
    assert totals(access_regression_set(cast.project, "test", 1)) == before
    assert right.digest != frozen.digest
    old, new = items_of(frozen).get(name="002.jpg"), items_of(right).get(name="002.jpg")
    # The rest of its truth, its file and its look are the same.
    assert new.truth == old.truth | {"/total": "9.00"}
    assert (new.sha256, new.original.name, new.perceptual_hashes) == (
        old.sha256,
        old.original.name,
        old.perceptual_hashes,
    )
    assert items_of(right, limit=1).get().name == "001.jpg"


def test_who_did_it_and_why_is_written_down_but_not_what_the_page_shows(cast: Cast, frozen: RegressionSet) -> None:
    right = corrected(cast, frozen)
    entry = AuditEntry.objects.get(action="regression_set.corrected")
    assert entry.actor == cast.manager
    assert entry.detail == {
        "name": "test",
        "number": 2,
        "item": "002.jpg",
        "fields": ["/total"],
        "reason": REASON,
        "digest": right.digest,
    }
    assert right.created_by == cast.manager


def test_correcting_to_what_is_there_changes_nothing(cast: Cast, frozen: RegressionSet) -> None:
    right = corrected(cast, frozen)
    assert corrected(cast, right) == right
    assert RegressionSet.objects.count() == 2


def test_a_set_goes_on_growing_from_the_corrected_version(cast: Cast, frozen: RegressionSet, tmp_path: Path) -> None:
    corrected(cast, frozen)
    more = read_sroie(make_folder(tmp_path / "more", {"003": {"total": "1.00"}})).files
    grown = import_regression_set(
        actor=SYSTEM,
        project=cast.project,
        document_type=cast.document_type,
        name="test",
        files=more,
        is_growing=True,
    ).regression_set
    assert (grown.number, grown.n_items) == (3, 3)
    assert totals(grown)["002.jpg"] == "9.00"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"item_name": "009.jpg"}, "/item"),
        ({"truth": {"/nothing": "1"}}, "/nothing"),
        ({"truth": {}}, "/truth"),
        ({"reason": " "}, "/reason"),
        ({"reason": "x" * 501}, "/reason"),
    ],
)
def test_what_cannot_be_is_refused(cast: Cast, frozen: RegressionSet, changes: dict[str, object], pointer: str) -> None:
    given: dict[str, object] = {"item_name": "002.jpg", "truth": {"/total": "9.00"}, "reason": REASON} | changes
    with pytest.raises(InvalidInputError) as refused:
        correct_truth(actor=Actor(cast.manager), regression_set=frozen, **given)  # type: ignore[arg-type]
    assert [problem["pointer"] for problem in refused.value.details["problems"]] == [pointer]
    assert RegressionSet.objects.count() == 1


def test_an_older_version_is_corrected_no_more(cast: Cast, frozen: RegressionSet) -> None:
    corrected(cast, frozen)
    with pytest.raises(ConflictError):
        corrected(cast, frozen, item="001.jpg")
    assert RegressionSet.objects.count() == 2


def test_reviewers_are_measured_by_the_corrected_truth(cast: Cast, frozen: RegressionSet) -> None:
    document = make_routed(cast.document_type)
    Document.objects.filter(pk=document.pk).update(sha256=items_of(frozen).get(name="002.jpg").sha256)
    document.refresh_from_db()
    assert known_values(document)["/total"] == "10.00"
    corrected(cast, frozen)
    assert known_values(document)["/total"] == "9.00"
    assert held_out_of(cast.project).digests == {item.sha256 for item in items_of(frozen)}


def test_a_comparison_stays_on_its_version_and_the_gate_asks_for_one_on_the_newest(cast: Cast, tmp_path: Path) -> None:
    version = as_good(cast)
    send(cast)
    frozen = freeze(cast, tmp_path / "frozen")
    rollout = rolled_out(cast, version)
    old = compare_versions(actor=SYSTEM, regression_set=frozen, a=champion(), b=version)
    assert gate_of(rollout).is_open
    right = correct_truth(
        actor=SYSTEM, regression_set=frozen, item_name="test1.jpg", truth={"/total": "10.00"}, reason=REASON
    )
    assert newest_set_of(cast.document_type) == right
    assert whole_run_of(right, version.pk) is None
    assert gate_of(rollout).refusal == "no_comparison"
    new = compare_versions(actor=SYSTEM, regression_set=right, a=champion(), b=version)
    assert gate_of(rollout).is_open
    assert [str(one.regression_set) for one in (old, new)] == ["test v1", "test v2"]
    found = [run.results for run in EvaluationRun.objects.filter(engine_version=version).order_by("pk")]
    assert [(one["set"]["number"], one["fields"]["total"]["exact_match"]["point"]) for one in found] == [
        (1, 1.0),
        (2, 0.5),
    ]


def test_a_correction_after_a_training_is_no_document_that_taught_it(cast: Cast, tmp_path: Path) -> None:
    frozen = freeze(cast, tmp_path / "frozen", n=1)
    document = make_routed(cast.document_type)
    Document.objects.filter(pk=document.pk).update(sha256=frozen.items.get().sha256, received_at=frozen.created_at)
    version = as_good(cast)
    assert version.locator is not None
    assert version.locator.created_at <= timezone.now()
    right = correct_truth(
        actor=SYSTEM, regression_set=frozen, item_name="test0.jpg", truth={"/total": "10.00"}, reason=REASON
    )
    assert n_that_taught(right, version) == 0
