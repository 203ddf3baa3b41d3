"""A worker learns in steps; killed and begun anew it learns the same; cancelled it stops; what it makes reads."""

from collections.abc import Callable, Sequence

import pytest

from review.actions.recovery import requeue_work
from review.actions.training import cancel_training, request_training
from review.learning.examples import FieldExample
from review.learning.locator import FieldFit, fit_field
from review.models import EngineVersion, ModelKind, Reading, TrainedModel, TrainingRun, WorkState
from review.selectors.access import SYSTEM
from review.selectors.trained_models import classifier_id
from review.selectors.training import composed_with
from review.tasks import TaskFailedError
from review.tasks_models import forget_models, scorer_of
from review.tasks_training import train
from tests import factories
from tests.conftest import Cast
from tests.review.dead_claims import DEAD
from tests.review.learning.examples import TOTAL
from tests.review.taught import candidate, candidates, teach, with_reading

pytestmark = pytest.mark.django_db(transaction=True)


class KilledError(BaseException):
    """The process goes, without a word."""


@pytest.fixture
def base(cast: Cast) -> EngineVersion:
    forget_models()
    version = factories.make_engine_version("rapidocr")
    for number in range(30):
        teach(cast.document_type, cast.reviewer, number, base=version)
    return version


def requested(cast: Cast, seed: int = 0) -> TrainingRun:
    return request_training(
        actor=SYSTEM,
        project=cast.project,
        document_type=cast.document_type,
        kind=ModelKind.LOCATOR,
        seed=seed,
    )


def ended(run: TrainingRun) -> TrainingRun:
    train(run.pk)
    run.refresh_from_db()
    return run


def test_what_people_settled_becomes_a_version_that_finds_it(cast: Cast, base: EngineVersion) -> None:
    run = ended(requested(cast))
    assert (run.state, run.n_done, run.n_steps) == (WorkState.DONE, 5, 5)
    version = composed_with(run.trained_model)
    assert version is not None
    scorer = scorer_of(version)
    assert scorer is not None
    unseen = [one["features"] for one in candidates("77.00", n_wrong=6)]
    scores = scorer.score(TOTAL, unseen)
    assert max(range(7), key=lambda row: scores[row]) == 6
    learned = run.metrics["fields"]["/total"]
    assert (learned["n_documents"], learned["matched"], learned["found_after"]) == (30, 30, 1.0)
    assert run.metrics["fields"]["/company"] == run.metrics["fields"]["/company"] | {"why_not": "few_labels"}


def test_the_same_snapshot_and_seed_make_the_same_bytes(cast: Cast, base: EngineVersion) -> None:
    runs = [ended(requested(cast, seed)) for seed in (0, 0, 1)]
    first, same, other = (run.trained_model.sha256 for run in runs)
    assert first == same != other


def test_a_training_that_is_killed_learns_the_same_the_next_time(
    cast: Cast, base: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = ended(requested(cast))
    run = requested(cast)
    with monkeypatch.context() as patch:
        patch.setattr("review.tasks_training.bundle", _dies)
        with pytest.raises(KilledError):
            train(run.pk)
    run.refresh_from_db()
    assert (run.state, run.n_done) == (WorkState.RUNNING, 4)
    # What comes meanwhile is not in the snapshot.
    teach(cast.document_type, cast.reviewer, 99, base=base)
    TrainingRun.objects.filter(pk=run.pk).update(claim_token=DEAD)
    assert requeue_work() == {"trainingrun": 1}
    assert ended(run).state == WorkState.DONE
    assert run.snapshot["documents"] == undisturbed.snapshot["documents"]
    assert run.trained_model.sha256 == undisturbed.trained_model.sha256


def _dies(*_: object) -> bytes:
    raise KilledError


def test_a_training_is_cancelled_between_its_steps(
    cast: Cast, base: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = requested(cast)
    n_fitted = _counting(monkeypatch, then=lambda: cancel_training(actor=SYSTEM, run=run))
    assert ended(run).state == WorkState.CANCELLED
    assert len(n_fitted) == 1
    assert not TrainedModel.objects.exists()


def _counting(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> list[int]:
    calls: list[int] = []

    def counted(examples: Sequence[FieldExample], names: Sequence[str], seed: int, *, is_required: bool) -> FieldFit:
        calls.append(1)
        then()
        return fit_field(examples, names, seed, is_required=is_required)

    monkeypatch.setattr("review.tasks_training.fit_field", counted)
    return calls


def test_where_nothing_is_gained_nothing_is_made_and_it_says_why(cast: Cast) -> None:
    base = factories.make_engine_version("rapidocr")
    for number in range(30):
        alone = {"/total": [candidate(f"{number}.00", 1)]}
        teach(cast.document_type, cast.reviewer, number, base=base, value=f"{number}.00", stored=alone)
    run = ended(requested(cast))
    assert (run.state, run.error_code) == (WorkState.FAILED, "nothing_learned")
    assert run.metrics["fields"]["/total"]["why_not"] == "nothing_to_choose"
    assert not TrainedModel.objects.exists()


def test_an_error_nobody_foresaw_ends_the_training_without_document_text(
    cast: Cast, base: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("BOOK TA K")

    monkeypatch.setattr("review.tasks_training.fit_field", breaks)
    run = requested(cast)
    with pytest.raises(TaskFailedError) as told:
        train(run.pk)
    assert "BOOK" not in str(told.value)
    run.refresh_from_db()
    assert (run.state, run.error_code) == (WorkState.FAILED, "training_failed")


def test_a_training_that_is_delivered_twice_is_done_once(cast: Cast, base: EngineVersion) -> None:
    run = ended(requested(cast))
    train(run.pk)
    assert TrainedModel.objects.count() == 1


def test_what_was_misread_is_told_from_what_was_never_found(cast: Cast, base: EngineVersion) -> None:
    misread = {"/total": [candidate("1284.50", 1)]}
    teach(cast.document_type, cast.reviewer, 50, base=base, value="1234.50", stored=misread)
    teach(cast.document_type, cast.reviewer, 51, base=base, value="99999.50", stored={"/date": []})
    learned = ended(requested(cast)).metrics["fields"]["/total"]
    assert (learned["matched"], learned["read_wrong"], learned["no_candidate"]) == (30, 1, 1)


def teach_types(cast: Cast, texts: Sequence[str], n_pages: int = 12) -> None:
    """Reviewed pages of two types; each shows one of the texts, in turn: the first type's at even places."""
    other = factories.make_document_type(cast.project, "invoice")
    for number in range(2 * n_pages):
        document = teach((cast.document_type, other)[number % 2], cast.reviewer, number)
        with_reading(document, [[f"{texts[number % len(texts)]} {number}", 0.1, 0.1, 0.4, 0.12, 0.9]])


def test_types_are_learned_to_be_told_apart(cast: Cast) -> None:
    teach_types(cast, ("CASH RECEIPT", "TAX INVOICE"))
    run = request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER)
    run = ended(run)
    assert (run.state, run.metrics["right"], run.metrics["n_documents"]) == (WorkState.DONE, 1.0, 24)
    assert run.metrics["decided"] > 0.9
    assert run.trained_model.format == "json"


def test_a_classifier_of_shuffled_labels_is_refused_and_the_one_before_it_stays(cast: Cast) -> None:
    teach_types(cast, ("CASH RECEIPT", "TAX INVOICE"))
    run = ended(request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER))
    kept = classifier_id(cast.project.pk)
    assert kept == run.trained_model.pk
    # What is called what has from now on nothing to do with what stands there.
    Reading.objects.update(payload=Reading.objects.order_by("pk")[0].payload)
    refused = ended(request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER))
    assert (refused.state, refused.error_code, refused.metrics["decided"]) == (WorkState.FAILED, "types_too_alike", 0.0)
    assert classifier_id(cast.project.pk) == kept


def test_one_type_alone_cannot_be_told_from_others(cast: Cast) -> None:
    run = request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER)
    assert ended(run).error_code == "too_few_types"
