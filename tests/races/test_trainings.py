"""A person asks for a training at the moment at which one would begin by itself: one of a type at a time."""

import functools

import pytest

from review.actions import training
from review.actions.training import _request_alone, request_training
from review.models import CandidateSet, DocumentType, ExtractionRun, ModelKind, TrainingRun
from review.selectors.access import SYSTEM
from tests import factories
from tests.races.threads import Halfway, all_at_once


@pytest.mark.parametrize("kind", [ModelKind.LOCATOR, ModelKind.CALIBRATOR])
def test_what_a_person_asks_for_begins_and_nothing_beside_it(
    document_type: DocumentType, monkeypatch: pytest.MonkeyPatch, kind: ModelKind
) -> None:
    run = ExtractionRun.objects.get(document=factories.make_routed(document_type))
    CandidateSet.objects.create(run=run, payload={})
    halfway = Halfway(monkeypatch, training, "record_audit")
    ask = functools.partial(
        request_training, actor=SYSTEM, project=document_type.project, document_type=document_type, kind=kind
    )
    by_itself = halfway.then(functools.partial(_request_alone, document_type, ModelKind.LOCATOR))
    asked, has_begun = all_at_once([ask, by_itself])
    assert has_begun is False
    assert TrainingRun.objects.get() == asked
