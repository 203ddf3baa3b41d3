"""A language model is shown reviewed pages of the same layout, frozen with the run; never what measures it."""

import pytest
from django.core.files.base import ContentFile

from inference.imaging.similarity import perceptual_hash
from inference.types import PageReading
from review.actions.intake import receive_document
from review.models import (
    Document,
    ExtractionRun,
    Page,
    PageRead,
    Reading,
    Record,
    RegressionItem,
    RegressionSet,
)
from review.selectors.access import SYSTEM
from review.tasks import open_document
from review.tasks_examples import MAX_EXAMPLES, choose_examples, load_examples
from review.tasks_files import load_page
from review.tasks_reading import request_of
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off
from tests.review.scripted import WORDS, hash_of
from tests.review.vlm import VALUES, answering, read_with_vlm

OTHER_WORDS = [[text, *row[1:]] for text, row in zip(["PETRON", "Pump seven", "Litre", "20.00"], WORDS, strict=True)]


@pytest.fixture(autouse=True)
def _model(cast: Cast, script: Script) -> None:
    read_with_vlm(cast.project)
    script(default=answering())


def send(cast: Cast, text: str) -> Document:
    document = receive_document(
        actor=SYSTEM,
        project=cast.project,
        document_type=cast.document_type,
        file=ContentFile(picture(text)),
        filename=text,
    ).document
    work_off()
    return document


def reviewed(cast: Cast, text: str, **values: str | None) -> Document:
    """A document of which a person settled every value."""
    document = send(cast, text)
    run = document.runs.get(is_current=True)
    read = {one.field_path: one.value for one in run.predictions.all()}
    read |= {f"/{name}": value for name, value in values.items()}
    Record.objects.filter(document=document).update(is_current=False)
    Record.objects.create(
        project=cast.project,
        document=document,
        revision=9,
        run=run,
        reviewer=cast.reviewer,
        values=read,
        provenance={path: {"source": "person"} for path in read},
    )
    return document


def newest_run() -> ExtractionRun:
    runs = ExtractionRun.objects.select_related("schema_version", "document__project")
    return runs.order_by("-pk")[0]


def shown() -> list[int]:
    """The documents whose pages the newest run shows, in order."""
    pages = Page.objects.in_bulk([one["page"] for one in newest_run().examples])
    return [pages[one["page"]].document_id for one in newest_run().examples]


def test_without_reviewed_documents_nothing_is_shown_and_nothing_read_for_it(cast: Cast) -> None:
    send(cast, "first")

    def never(page: Page) -> PageReading:
        raise AssertionError("the words were asked for")

    assert choose_examples(newest_run(), never) == []
    assert shown() == []


def test_a_reviewed_page_of_the_layout_is_shown_with_its_values_as_printed(cast: Cast) -> None:
    document = reviewed(cast, "first", company="Book Ta K")
    send(cast, "second")
    assert shown() == [document.pk]
    (example,) = load_examples(newest_run().examples)
    # What was read rightly stands there as printed; what a person typed, as typed.
    assert example.values == {"company": "Book Ta K", "date": "25/12/2018", "total": "9.00"}
    assert example.content_hash == document.pages.get().content_hash
    assert example.page.size == (200, 300)


def test_what_is_shown_is_part_of_what_is_asked(cast: Cast) -> None:
    send(cast, "alone")
    alone = newest_run()
    reviewed(cast, "first")
    send(cast, "second")
    assert newest_run().request_digest != alone.request_digest
    assert newest_run().request_digest == request_of(newest_run()).digest
    assert len(request_of(newest_run()).examples) == 1


def test_at_most_two_are_shown(cast: Cast) -> None:
    documents = [reviewed(cast, text) for text in ("first", "second", "third")]
    send(cast, "fourth")
    assert shown() == [documents[2].pk, documents[1].pk][:MAX_EXAMPLES]


def test_pages_of_another_layout_are_not_shown(cast: Cast, script: Script) -> None:
    reviewed(cast, "first")
    page = {"words": OTHER_WORDS, "answer": {"values": dict(VALUES)}}
    script(default=page)
    send(cast, "second")
    assert shown() == []


@pytest.mark.parametrize("spoil", ["a value is the model's", "it is not current", "nobody reviewed it"])
def test_what_no_person_stands_behind_is_not_shown(cast: Cast, spoil: str) -> None:
    document = reviewed(cast, "first")
    record = Record.objects.get(document=document, revision=9)
    if spoil == "a value is the model's":
        record.provenance["/date"] = {"source": "model"}
    elif spoil == "it is not current":
        record.is_current = False
    else:
        record.reviewer = None
    record.save()
    send(cast, "second")
    assert shown() == []


def hold_out(cast: Cast, **values: object) -> None:
    kept = RegressionSet.objects.create(project=cast.project, document_type=cast.document_type, name="s", digest="d")
    RegressionItem.objects.create(regression_set=kept, name="x", original="x", truth={}, **values)


def test_a_document_of_a_regression_set_is_never_shown(cast: Cast) -> None:
    document = reviewed(cast, "first")
    hold_out(cast, sha256=document.sha256, perceptual_hashes=["0123456789abcdef"])
    send(cast, "second")
    assert shown() == []


def test_nor_is_what_looks_like_one(cast: Cast) -> None:
    document = reviewed(cast, "first")
    look = document.pages.get().perceptual_hash
    assert look == perceptual_hash(load_page(str(document.pages.get().image.name), 1))
    near = f"{int(look, 16) ^ 0b10101:016x}"
    hold_out(cast, sha256="other", perceptual_hashes=["ffff0000ffff0000", near])
    send(cast, "second")
    assert shown() == []


def test_where_the_look_of_a_set_is_not_known_nothing_is_shown(cast: Cast) -> None:
    reviewed(cast, "first")
    hold_out(cast, sha256="other")
    send(cast, "second")
    assert shown() == []
    far = f"{int(Page.objects.order_by('pk')[0].perceptual_hash, 16) ^ (2**64 - 1):016x}"
    RegressionItem.objects.update(perceptual_hashes=[far])
    send(cast, "third")
    assert len(shown()) == 1


def test_what_a_run_shows_is_frozen_with_it(cast: Cast, script: Script) -> None:
    """A page that waits for its engine shows later what it was to show at first, whatever was reviewed meanwhile."""
    # Scripted once, for another script is another reader of words, and a run that is asked otherwise begins anew.
    script(default=answering(), pages={hash_of(picture("second")): answering(fault="engine_unavailable", times=1)})
    first = reviewed(cast, "first")
    waiting = send(cast, "second")
    reviewed(cast, "third")
    run = ExtractionRun.objects.get(document=waiting)
    before = (run.request_digest, run.examples)
    open_document(waiting.pk)
    run.refresh_from_db()
    assert (run.state, (run.request_digest, run.examples)) == ("routed", before)
    assert [one["page"] for one in run.examples] == [first.pages.get().pk]
    read = PageRead.objects.select_related("reading").get(run=run)
    assert read.reading is not None
    assert read.reading.request_digest == run.request_digest


def test_the_same_rows_give_the_same_examples(cast: Cast) -> None:
    for text in ("first", "second", "third"):
        reviewed(cast, text)
    send(cast, "fourth")
    run = newest_run()
    found = PageReading.from_json(Reading.objects.order_by("pk")[0].payload)
    assert choose_examples(run, lambda _page: found) == choose_examples(run, lambda _page: found) == run.examples
