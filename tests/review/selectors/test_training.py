"""What a training learns from: the newest settled documents that the base read, without what is held out."""

import pytest

from review.actions._compositions import ensure_composed_version
from review.exceptions import NotFoundError
from review.models import (
    CandidateSet,
    Document,
    EngineVersion,
    ExtractionRun,
    Record,
    RegressionItem,
    RegressionSet,
    TrainingRun,
)
from review.selectors.training import (
    Taught,
    access_training_run,
    base_to_learn_on,
    documents_of_all_types,
    documents_to_learn_from,
    first_readings,
    taught_fields,
    taught_from,
    training_runs_for,
)
from tests import factories
from tests.conftest import Cast
from tests.review.taught import teach, with_reading
from tests.review.trained import make_locator

pytestmark = pytest.mark.django_db

WORDS = [["TOTAL", 0.1, 0.1, 0.2, 0.12, 0.9]]


@pytest.fixture
def base() -> EngineVersion:
    return factories.make_engine_version("rapidocr")


def learned_from(cast: Cast, base: EngineVersion) -> Taught:
    return documents_to_learn_from(cast.document_type, base)


def ids(taught: Taught) -> list[int]:
    return [one.document_id for one in taught.documents]


def test_settled_documents_are_learned_from_oldest_first(cast: Cast, base: EngineVersion) -> None:
    made = [teach(cast.document_type, cast.reviewer, number, base=base) for number in range(3)]
    taught = learned_from(cast, base)
    assert ids(taught) == [document.pk for document in made]
    assert taught.left_out == {"held_out": 0, "not_read_by_base": 0}
    again = taught_from({"documents": [one.as_json() for one in taught.documents]})
    assert tuple(again) == taught.documents


def test_other_types_projects_and_what_no_person_saw_teach_nothing(cast: Cast, base: EngineVersion) -> None:
    other = factories.make_document_type(cast.project, "invoice")
    teach(other, cast.reviewer, 1, base=base)
    teach(cast.other_document_type, cast.stranger, 2, base=base)
    unseen = teach(cast.document_type, cast.reviewer, 3, base=base)
    Record.objects.filter(document=unseen).update(reviewer=None)
    assert ids(learned_from(cast, base)) == []


def test_what_another_engine_read_teaches_nothing_and_what_was_learned_on_the_base_does(
    cast: Cast, base: EngineVersion
) -> None:
    composed = ensure_composed_version(base, make_locator(cast.document_type, {"/total": {"top": 1.0}}))
    by_composed = teach(cast.document_type, cast.reviewer, 1, base=composed)
    teach(cast.document_type, cast.reviewer, 2, base=factories.make_engine_version("another"))
    taught = learned_from(cast, base)
    assert ids(taught) == [by_composed.pk]
    assert taught.left_out["not_read_by_base"] == 1


def test_regression_sets_and_what_looks_like_them_teach_nothing(cast: Cast, base: EngineVersion) -> None:
    kept, same, alike = (teach(cast.document_type, cast.reviewer, number, base=base) for number in range(3))
    looks = {kept.pk: "0" * 16, same.pk: "5" * 16, alike.pk: "f" * 15 + "e"}
    for document_id, look in looks.items():
        Document.objects.get(pk=document_id).pages.update(perceptual_hash=look)
    frozen = RegressionSet.objects.create(
        project=cast.project, document_type=cast.document_type, name="s", n_items=2, digest="d"
    )
    for number, (sha256, look) in enumerate([(same.sha256, "5" * 16), ("0" * 64, "f" * 16)]):
        RegressionItem.objects.create(
            regression_set=frozen, name=str(number), sha256=sha256, truth={}, perceptual_hashes=[look]
        )
    taught = learned_from(cast, base)
    assert ids(taught) == [kept.pk]
    assert taught.left_out == {"held_out": 2, "not_read_by_base": 0}


def test_a_document_teaches_what_a_person_stands_behind(cast: Cast, base: EngineVersion) -> None:
    seen = teach(cast.document_type, cast.reviewer, 1, base=base)
    empty = teach(cast.document_type, cast.reviewer, 2, base=base, value="", verdict="spurious")
    illegible = teach(cast.document_type, cast.reviewer, 3, base=base, verdict="illegible")
    unseen = teach(cast.document_type, cast.reviewer, 4, base=base, source="model")
    found = {one.document_id: one for one in taught_fields(learned_from(cast, base).documents)}
    assert found[seen.pk].values == {"/total": "101.00"}
    assert [one["value"] for one in found[seen.pk].candidates["/total"]][-1] == "101.00"
    assert found[empty.pk].values == {"/total": None}
    assert found[illegible.pk].values == found[unseen.pk].values == {}


def test_a_document_that_is_gone_teaches_nothing(cast: Cast, base: EngineVersion) -> None:
    for number in range(2):
        teach(cast.document_type, cast.reviewer, number, base=base)
    documents = learned_from(cast, base).documents
    run = ExtractionRun.objects.get(pk=documents[0].run_id)
    Record.objects.filter(run=run).delete()
    assert [one.document_id for one in taught_fields(documents)] == [documents[1].document_id]


def test_a_locator_learns_on_what_read_last(cast: Cast, base: EngineVersion) -> None:
    assert base_to_learn_on(cast.document_type) is None
    teach(cast.document_type, cast.reviewer, 1, base=factories.make_engine_version("before"))
    composed = ensure_composed_version(base, make_locator(cast.document_type, {"/total": {"top": 1.0}}))
    teach(cast.document_type, cast.reviewer, 2, base=composed)
    assert base_to_learn_on(cast.document_type) == base
    CandidateSet.objects.all().delete()
    assert base_to_learn_on(cast.document_type) is None


def test_first_pages_are_learned_from_with_their_types(cast: Cast, base: EngineVersion) -> None:
    other = factories.make_document_type(cast.project, "invoice")
    receipt = with_reading(teach(cast.document_type, cast.reviewer, 1, base=base), WORDS)
    invoice = with_reading(teach(other, cast.reviewer, 2, base=base), WORDS)
    teach(other, cast.reviewer, 3, base=base)
    taught = documents_of_all_types(cast.project)
    assert [(one.document_id, one.document_type_id) for one in taught.documents] == [
        (receipt.pk, cast.document_type.pk),
        (invoice.pk, other.pk),
    ]
    assert [[word.text for word in reading.words] for _, reading in first_readings(taught.documents)] == [["TOTAL"]] * 2


def test_a_training_is_seen_in_its_project_only(cast: Cast) -> None:
    run = TrainingRun.objects.create(project=cast.project, document_type=cast.document_type, kind="locator")
    assert access_training_run(cast.project, run.pk) == run
    assert list(training_runs_for(cast.project)) == [run]
    with pytest.raises(NotFoundError):
        access_training_run(cast.other_project, run.pk)
