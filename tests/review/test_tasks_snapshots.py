import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from review import tasks_snapshots
from review.actions.snapshots import cancel_snapshot, claim_snapshot, request_snapshot
from review.exports.frozen import frozen_row
from review.models import FieldReview, RegressionItem, RegressionSet, Snapshot, SnapshotItem, Verdict, WorkState
from review.selectors.access import SYSTEM
from review.tasks import TaskFailedError
from review.tasks_snapshots import take_snapshot
from tests import factories
from tests.conftest import Cast
from tests.review.snapshots import BOXES, add_reviewed, taken


@pytest.fixture(autouse=True)
def _scratch(settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path


def rows(snapshot: Snapshot) -> list[Any]:
    return [json.loads(item.row) for item in snapshot.items.order_by("id")]


def hold_out(cast: Cast, sha256: str = "f" * 64, looks: list[str] | None = None) -> None:
    regression_set = RegressionSet.objects.create(
        project=cast.project, document_type=cast.document_type, name=f"set {sha256}", digest=sha256
    )
    RegressionItem.objects.create(
        regression_set=regression_set, name="a", original="a", sha256=sha256, perceptual_hashes=looks or [], truth={}
    )


def test_a_snapshot_holds_what_people_settled_with_the_state_of_each_field(cast: Cast) -> None:
    verdicts = {"/total": ("corrected", "9.10"), "/date": ("confirmed", "2018-12-25")}
    record = add_reviewed(cast.document_type, "a", verdicts=verdicts)
    snapshot = taken(cast.project)
    assert (snapshot.state, snapshot.n_records, snapshot.n_done) == (WorkState.DONE, 1, 1)
    (row,) = rows(snapshot)
    assert (row["record_id"], row["revision"], row["split"]) == (record.pk, 1, "train")
    states = {field["field_path"]: (field["state"], field["value"]) for field in row["fields"]}
    assert states == {
        "/company": ("model", "BOOK a"),
        "/date": ("confirmed", "2018-12-25"),
        "/total": ("corrected", "9.10"),
    }
    assert row["pages"][0] | {"content_hash": ""} == {
        "page_number": 1,
        "width": 200,
        "height": 300,
        "content_hash": "",
        "covered": [],
    }


def test_the_manifest_says_what_it_holds_and_by_whose_word(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a", verdicts={"/total": ("corrected", "9.10")})
    manifest = taken(cast.project, seed="2026").manifest
    assert manifest["counts"] == {
        "documents": 1,
        "pages": 1,
        "fields": 3,
        "labels": 1,
        "states": {"corrected": 1, "model": 2},
    }
    assert manifest["split"]["seed"] == "2026"
    assert manifest["split"]["sides"]["train"]["documents"] == 1
    assert manifest["inclusion_probabilities"] == [{"inclusion_probability": 0.5, "n_labels": 1}]
    assert [one["digest"] for one in manifest["engine_versions"]] == [record.run.engine_version.digest]
    assert manifest["policies"] == [{"document_type": "receipt", "number": 1}]
    assert manifest["document_types"][0]["schema"] == factories.SCHEMA
    assert list(manifest["document_types"][0]["schema"]["properties"]) == ["company", "date", "total"]
    assert "top left" in manifest["pixel_space"]


def test_the_prompt_of_a_language_model_is_named(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a")
    version = record.run.engine_version
    version.spec = {"prompt_version": "v2"}
    version.save()
    assert taken(cast.project).manifest["prompt_versions"] == ["v2"]


def test_what_is_left_out_is_counted_by_why(cast: Cast) -> None:
    add_reviewed(cast.document_type, "a")
    add_reviewed(cast.document_type, "unseen", verdicts={})
    factories.make_routed(cast.document_type, band="review")
    factories.make_document(cast.document_type)
    snapshot = taken(cast.project)
    assert snapshot.n_records == 1
    assert snapshot.manifest["left_out"] == {"in_review": 1, "on_their_way": 1, "not_by_people": 1}


@pytest.mark.parametrize(
    ("holding", "names"), [("settled", {"all"}), ("reviewed", {"all", "one"}), ("everything", {"all", "one", "none"})]
)
def test_a_snapshot_holds_records_by_whose_word_they_are(cast: Cast, holding: str, names: set[str]) -> None:
    add_reviewed(cast.document_type, "all")
    add_reviewed(cast.document_type, "one", verdicts={"/total": ("confirmed", "9.00")})
    add_reviewed(cast.document_type, "none", verdicts={})
    found = {row["document"]["filename"].removesuffix(".jpg") for row in rows(taken(cast.project, holding=holding))}
    assert found == names


def test_a_document_of_a_regression_set_is_left_out(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a")
    hold_out(cast, record.document.sha256, ["0" * 16])
    snapshot = taken(cast.project)
    assert (snapshot.n_records, snapshot.manifest["left_out"]) == (0, {"held_out": 1})
    assert snapshot.manifest["is_without_regression_sets"] is True


def test_a_near_duplicate_of_a_regression_set_is_left_out(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a")
    add_reviewed(cast.document_type, "another one altogether", n_pages=1)
    look = record.document.pages.get().perceptual_hash
    near = f"{int(look, 16) ^ 0b11:016x}"
    record.document.pages.update(perceptual_hash="f0" * 8)
    other = record.document.project.documents.exclude(pk=record.document_id).get()
    other.pages.update(perceptual_hash=look)
    hold_out(cast, looks=[near])
    snapshot = taken(cast.project)
    assert [row["record_id"] for row in rows(snapshot)] == [record.pk]
    assert snapshot.manifest["left_out"] == {"held_out": 1}


def test_a_page_whose_look_is_not_known_may_be_one_of_a_regression_set(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a")
    record.document.pages.update(perceptual_hash="")
    assert taken(cast.project).n_records == 1
    hold_out(cast, looks=["0" * 16])
    assert taken(cast.project).n_records == 0


def test_nothing_is_taken_where_the_look_of_a_regression_set_is_not_known(cast: Cast) -> None:
    add_reviewed(cast.document_type, "a")
    hold_out(cast)
    snapshot = taken(cast.project)
    assert (snapshot.state, snapshot.error_code) == (WorkState.FAILED, "held_out_unknown")
    assert not SnapshotItem.objects.exists()


def test_one_vendor_stands_on_one_side(cast: Cast) -> None:
    for vendor in "ABCDEF":
        for number in range(4):
            values = {"/company": f"Vendor {vendor}", "/date": "2018-12-25", "/total": f"{number}.00"}
            add_reviewed(cast.document_type, f"{vendor}{number}", values=values, words=())
    snapshot = taken(cast.project, validation_share=0.2, test_share=0.2)
    sides: dict[str, set[str]] = {}
    for row in rows(snapshot):
        sides.setdefault(row["document"]["filename"][0], set()).add(row["split"])
    assert all(len(found) == 1 for found in sides.values())
    assert set.union(*sides.values()) == {"train", "validation", "test"}


def test_the_same_records_and_seed_give_the_same_sides(cast: Cast) -> None:
    for number in range(12):
        add_reviewed(cast.document_type, f"shop number {number}", words=())
    wishes = {"validation_share": 0.2, "test_share": 0.2}
    first, again, other = (taken(cast.project, seed=seed, **wishes) for seed in ("one", "one", "two"))
    assert rows(first) == rows(again)
    assert [row["split"] for row in rows(first)] != [row["split"] for row in rows(other)]


def test_what_comes_later_changes_nothing_of_a_snapshot(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a")
    snapshot = taken(cast.project)
    before = rows(snapshot)
    label = FieldReview.objects.filter(document=record.document).first()
    assert label is not None
    label.pk, label.verdict, label.value = None, Verdict.CORRECTED, "1.00"
    label.task = factories.make_task(record.document, record.run)
    label.save()
    record.values = {}
    record.save()
    add_reviewed(cast.document_type, "b")
    assert rows(Snapshot.objects.get(pk=snapshot.pk)) == before


def test_characters_are_untouched(cast: Cast) -> None:
    name = "Cafe\u0301 ＢＯＯＫ 壹佰\u2028 e\u0301"
    add_reviewed(cast.document_type, "a", values={"/company": name})
    (row,) = rows(taken(cast.project))
    assert row["fields"][0]["value"] == name
    assert name in SnapshotItem.objects.get().row


def test_a_task_delivered_again_takes_nothing_again(cast: Cast) -> None:
    add_reviewed(cast.document_type, "a")
    snapshot = taken(cast.project)
    take_snapshot(snapshot.pk)
    after = Snapshot.objects.get()
    assert (after.n_attempts, after.finished_at, after.items.count()) == (1, snapshot.finished_at, 1)


def test_a_snapshot_whose_taker_was_killed_is_taken_from_the_beginning(cast: Cast, settings: Settings) -> None:
    record = add_reviewed(cast.document_type, "a")
    snapshot = request_snapshot(actor=SYSTEM, project=cast.project)
    settings.STET_CLAIM_SECONDS = 0
    claim_snapshot(snapshot_id=snapshot.pk)
    SnapshotItem.objects.create(snapshot=snapshot, record=record, split="test", group="x", row="{}")
    take_snapshot(snapshot.pk)
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.n_attempts, len(rows(snapshot))) == (WorkState.DONE, 2, 1)
    assert rows(snapshot)[0]["record_id"] == record.pk


def test_a_snapshot_that_is_cancelled_on_the_way_keeps_nothing(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    add_reviewed(cast.document_type, "a")
    snapshot = request_snapshot(actor=SYSTEM, project=cast.project)
    taking = frozen_row

    def cancelling(*args: Any, **how: Any) -> Any:
        cancel_snapshot(actor=SYSTEM, snapshot=Snapshot.objects.get())
        return taking(*args, **how)

    monkeypatch.setattr(tasks_snapshots, "frozen_row", cancelling)
    take_snapshot(snapshot.pk)
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.manifest) == (WorkState.CANCELLED, {})
    assert not SnapshotItem.objects.exists()


def test_an_unforeseen_error_fails_the_snapshot(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    add_reviewed(cast.document_type, "a")
    snapshot = request_snapshot(actor=SYSTEM, project=cast.project)

    def broken(*args: Any, **how: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(tasks_snapshots, "frozen_row", broken)
    with pytest.raises(TaskFailedError):
        take_snapshot(snapshot.pk)
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.error_code) == (WorkState.FAILED, "snapshot_failed")


def test_a_personal_value_that_nobody_located_keeps_its_document_out(cast: Cast) -> None:
    schema = json.loads(json.dumps(factories.SCHEMA))
    schema["properties"]["company"]["x-personal"] = True
    personal = factories.make_document_type(cast.project, "letter", schema)
    add_reviewed(personal, "located")
    add_reviewed(personal, "typed", verdicts={"/company": ("corrected", "Somebody Else")})
    assert taken(cast.project).n_records == 2
    snapshot = taken(cast.project, personal="masked")
    assert [row["document"]["filename"] for row in rows(snapshot)] == ["located.jpg"]
    assert snapshot.manifest["left_out"] == {"personal_not_located": 1}
    assert rows(snapshot)[0]["pages"][0]["covered"] == [BOXES["/company"]]


@pytest.mark.parametrize("personal", ["masked", "left_out"])
def test_a_personal_value_is_nowhere_in_what_is_frozen(cast: Cast, personal: str) -> None:
    schema = json.loads(json.dumps(factories.SCHEMA))
    schema["properties"]["company"]["x-personal"] = True
    add_reviewed(factories.make_document_type(cast.project, "letter", schema), "Jane")
    snapshot = taken(cast.project, personal=personal)
    assert "BOOK Jane" not in SnapshotItem.objects.get().row
    fields = {field["field_path"]: field for field in rows(snapshot)[0]["fields"]}
    assert ("/company" in fields) is (personal == "masked")
    if personal == "masked":
        assert fields["/company"]["value"] == "[personal]"
        assert fields["/company"]["labels"][0]["predicted_value"] == "[personal]"
    assert fields["/total"]["value"] == "9.00"
