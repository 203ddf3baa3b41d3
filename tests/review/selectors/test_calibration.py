"""Which labels teach a calibrator, and what a reader itself said of a calibrated value."""

import pytest

from review.actions._compositions import ensure_composed_version
from review.models import FieldReview, ModelKind, RegressionItem, RegressionSet, TrainedModel
from review.selectors.calibration import (
    READER_CONFIDENCE,
    evidence_to_calibrate,
    labelled_fields,
    labels_to_calibrate,
    what_the_reader_said,
    with_evidence_of,
)
from tests import factories
from tests.conftest import Cast
from tests.review.calibration_room import overconfident, to_learn_from
from tests.review.targets_room import AUDIT_SHARE

pytestmark = pytest.mark.django_db
NEWEST = 10**9


def chosen(cast: Cast, up_to: int = NEWEST) -> tuple[int, ...]:
    return labels_to_calibrate(cast.document_type, factories.make_engine_version(), up_to).label_ids


def test_only_documents_of_the_draw_teach_and_only_labels_up_to_the_snapshot(cast: Cast) -> None:
    overconfident(cast.document_type, 40)
    ids = chosen(cast)
    assert set(FieldReview.objects.filter(pk__in=ids).values_list("document_id", flat=True)) == to_learn_from(
        cast.document_type
    )
    assert chosen(cast, ids[0]) == ids[:1]


@pytest.mark.parametrize("changes", [{"is_in_sample": False}, {"is_correct": None}, {"confidence": None}])
def test_what_is_no_part_of_the_sample_teaches_nothing(cast: Cast, changes: dict[str, object]) -> None:
    overconfident(cast.document_type, 20)
    FieldReview.objects.update(**changes)
    assert chosen(cast) == ()


def test_what_is_held_out_teaches_nothing(cast: Cast) -> None:
    overconfident(cast.document_type, 40)
    before = chosen(cast)
    label = FieldReview.objects.get(pk=before[0])
    held_out = RegressionSet.objects.create(project=cast.project, document_type=cast.document_type, name="held")
    # The look of no other page is known, so none of them is alike.
    RegressionItem.objects.create(
        regression_set=held_out, name="x", sha256=label.document.sha256, truth={}, perceptual_hashes=["0" * 16]
    )
    for document in cast.document_type.documents.all():
        document.pages.update(perceptual_hash="f" * 16)
    found = labels_to_calibrate(cast.document_type, factories.make_engine_version(), NEWEST)
    assert found.label_ids == before[1:]
    assert found.left_out["held_out"] == 1


def test_the_versions_with_the_same_evidence_are_the_same_reader_with_any_calibrator(cast: Cast) -> None:
    base = factories.make_engine_version()
    models = [
        TrainedModel.objects.create(
            project=cast.project, document_type=cast.document_type, kind=kind, sha256=str(number) * 64, payload=b"{}"
        )
        for number, kind in enumerate((ModelKind.CALIBRATOR, ModelKind.CALIBRATOR, ModelKind.LOCATOR))
    ]
    calibrated = [ensure_composed_version(base, calibrator=model) for model in models[:2]]
    located = ensure_composed_version(base, locator=models[2])
    both = ensure_composed_version(base, models[2], models[0])
    assert set(with_evidence_of(base)) == {base, *calibrated}
    assert set(with_evidence_of(located)) == {located, both}


def test_a_type_that_was_never_read_has_no_evidence(cast: Cast) -> None:
    assert evidence_to_calibrate(cast.document_type) is None
    factories.make_routed(cast.document_type)
    assert evidence_to_calibrate(cast.document_type) == factories.make_engine_version()


def test_a_label_stands_for_one_over_its_chance(cast: Cast) -> None:
    overconfident(cast.document_type, 20)
    (label, *_more) = labelled_fields(chosen(cast)[:1])
    assert (label.field_path, label.weight, label.evidence) == ("/total", 1 / AUDIT_SHARE, {"ocr_score": 0.9})


def test_what_the_reader_said_is_no_evidence_of_its_own() -> None:
    evidence = {"ocr_score": 0.5, READER_CONFIDENCE: 0.9, "is_odd": True, "note": "x"}
    assert what_the_reader_said(0.6, evidence) == (0.9, {"ocr_score": 0.5})
    assert what_the_reader_said(0.6, None) == (0.6, {})
