"""What was learned is loaded once, only if its bytes are those that were stored; it finds and weighs fields."""

import pytest

from inference.errors import ModelDamagedError
from inference.fields.learned import LearnedScorer
from inference.types import BBox, FieldReading, PageReading, Word
from review.actions._compositions import ensure_composed_version
from review.models import DocumentType, EngineVersion, ModelKind, TrainedModel
from review.selectors.calibration import READER_CONFIDENCE
from review.tasks_models import (
    calibrate_of,
    forget_models,
    guessed_type,
    load_models,
    payload_of,
    scorer_of,
    suggested_type,
)
from tests import factories
from tests.conftest import Cast
from tests.inference.classifiers import telling_apart
from tests.review.trained import make_calibrator, make_locator, make_model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_loaded")]

READ = FieldReading("/total", "9.00", "9.00", 0.4, {"share": 0.5})


@pytest.fixture
def _nothing_loaded() -> None:
    # Ids begin anew in each test's database.
    forget_models()


@pytest.fixture
def base() -> EngineVersion:
    return factories.make_engine_version("rapidocr")


def test_a_base_has_learned_nothing(base: EngineVersion) -> None:
    assert scorer_of(base) is None
    assert scorer_of(None) is None
    assert calibrate_of(base) is None
    assert calibrate_of(None) is None


def test_a_locator_is_loaded_once(cast: Cast, base: EngineVersion) -> None:
    version = ensure_composed_version(base, make_locator(cast.document_type, {"/total": {"top": 1.0}}))
    scorer = scorer_of(version)
    assert isinstance(scorer, LearnedScorer)
    assert scorer.field_paths == ("/total",)
    TrainedModel.objects.update(payload=b"")
    assert scorer_of(version) is scorer


def test_bytes_that_are_not_those_that_were_stored_are_refused(cast: Cast, base: EngineVersion) -> None:
    model = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    version = ensure_composed_version(base, model)
    assert payload_of(model.pk) == model.payload
    other = make_locator(cast.document_type, {"/total": {"top": 2.0}})
    TrainedModel.objects.filter(pk=model.pk).update(payload=other.payload)
    with pytest.raises(ModelDamagedError, match="not those that were stored"):
        scorer_of(version)
    with pytest.raises(ModelDamagedError):
        load_models(version)


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b'{"/total": {}}', b'{"/total": 1}', b"\xff"])
def test_a_calibrator_of_another_kind_of_bytes_is_refused(cast: Cast, base: EngineVersion, payload: bytes) -> None:
    model = make_model(cast.document_type, ModelKind.CALIBRATOR, payload, "json")
    version = ensure_composed_version(base, None, model)
    with pytest.raises(ModelDamagedError):
        calibrate_of(version)


def test_a_calibrator_replaces_confidence_and_nothing_else(cast: Cast, base: EngineVersion) -> None:
    model = make_calibrator(cast.document_type, base.digest, {"/total": 0.75, "/items/*/amount": 0.25})
    calibrate = calibrate_of(ensure_composed_version(base, None, model))
    assert calibrate is not None
    cell = FieldReading("/items/3/amount", "1.00", "1.00", 0.4, {})
    other = FieldReading("/date", "x", "y", 0.4, {})
    nothing = FieldReading("/total", None, None, None, {}, ("not_found",))
    total, amount, date, missing = calibrate([READ, cell, other, nothing])
    assert (total.confidence, total.value) == (0.75, "9.00")
    # What the reader itself said is kept beside its evidence.
    assert total.evidence == {**READ.evidence, READER_CONFIDENCE: READ.confidence}
    assert amount.confidence == 0.25
    assert date == other
    assert missing == nothing


def test_a_calibrator_says_nothing_of_evidence_that_it_has_not_seen(cast: Cast, base: EngineVersion) -> None:
    locator = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    bound_to_base = make_calibrator(cast.document_type, base.digest, {"/total": 0.75})
    calibrate = calibrate_of(ensure_composed_version(base, locator, bound_to_base))
    assert calibrate is not None
    assert calibrate([READ]) == (READ,)
    evidence = ensure_composed_version(base, locator)
    own = make_calibrator(cast.document_type, evidence.digest, {"/total": 0.75})
    calibrate = calibrate_of(ensure_composed_version(base, locator, own))
    assert calibrate is not None
    assert calibrate([READ])[0].confidence == 0.75


def page(text: str) -> PageReading:
    return PageReading(800, 1600, (Word(text, BBox(0.1, 0.1, 0.5, 0.12), 0.9),), 0.0)


def learn_types(cast: Cast) -> DocumentType:
    """A classifier that knows receipts by "CASH RECEIPT" and the other type, which is returned, by "TAX INVOICE"."""
    other = factories.make_document_type(cast.project, "invoice")
    examples = ((cast.document_type.pk, page("CASH RECEIPT")), (other.pk, page("TAX INVOICE")))
    payload = telling_apart(*examples, familiar=0.6).as_bytes()
    make_model(cast.document_type, ModelKind.CLASSIFIER, payload, "json")
    return other


def test_a_page_that_looks_like_another_type_is_told(cast: Cast) -> None:
    receipt = factories.make_document(cast.document_type)
    assert suggested_type(receipt, page("TAX INVOICE 17")) is None
    other = learn_types(cast)
    invoice = factories.make_document(other)
    told = suggested_type(receipt, page("TAX INVOICE 17"))
    assert told is not None
    assert (told.document_type_id, told.slug, told.n_documents) == (other.pk, "invoice", 24)
    assert 0.9 < told.chance <= 1
    assert suggested_type(receipt, page("CASH RECEIPT 17")) is None
    told = suggested_type(invoice, page("CASH RECEIPT 17"))
    assert told is not None
    assert told.slug == "receipt"
    assert suggested_type(receipt, PageReading(800, 1600, (), 0.0)) is None


def test_a_page_that_is_like_no_type_is_left_alone(cast: Cast) -> None:
    learn_types(cast)
    receipt = factories.make_document(cast.document_type)
    strange = page("voices of the TAX INVOICE in a very long poem of the sea and the winter storms")
    guessed = guessed_type(receipt, strange)
    assert guessed is not None
    assert guessed.chances[cast.document_type.pk] < 0.02
    assert not guessed.is_familiar
    assert suggested_type(receipt, strange) is None


def test_a_type_without_a_schema_is_suggested_to_nobody(cast: Cast) -> None:
    other = learn_types(cast)
    DocumentType.objects.filter(pk=other.pk).update(active_version=None)
    assert suggested_type(factories.make_document(cast.document_type), page("TAX INVOICE 17")) is None


def test_a_type_that_was_not_learned_is_not_doubted(cast: Cast) -> None:
    learn_types(cast)
    note = factories.make_document(factories.make_document_type(cast.project, "note"))
    assert suggested_type(note, page("TAX INVOICE")) is None
    elsewhere = factories.make_document(cast.other_document_type)
    assert suggested_type(elsewhere, page("TAX INVOICE")) is None


def test_a_damaged_classifier_doubts_nothing(cast: Cast) -> None:
    learn_types(cast)
    TrainedModel.objects.update(payload=b"{}")
    assert suggested_type(factories.make_document(cast.document_type), page("TAX INVOICE")) is None
