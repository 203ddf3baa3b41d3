"""What each look at the records of a snapshot asks the database for."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from review.actions.snapshots import request_snapshot
from review.models import Personal, Snapshot
from review.selectors.access import SYSTEM
from review.selectors.snapshots import Candidate, candidates_of
from tests.conftest import Cast
from tests.review.snapshots import WORDS, add_reviewed

LARGE = ("review_fieldreview", "review_fieldprediction", '"payload"')
"""Where most of a project's rows and bytes lie: labels, predictions, words."""


@pytest.fixture
def snapshot(cast: Cast) -> Snapshot:
    add_reviewed(cast.document_type, "r", verdicts={"/total": ("corrected", "9.10")})
    return request_snapshot(actor=SYSTEM, project=cast.project, is_queued=False)


def look(snapshot: Snapshot, *, is_first_look: bool) -> tuple[Candidate, set[str]]:
    """The only record, and which of the large columns were read for it."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        ((found,),) = candidates_of(snapshot, is_first_look=is_first_look)
    read = " ".join(query["sql"].partition("WHERE")[0] for query in queries.captured_queries)
    return found, {name for name in LARGE if name in read}


def test_the_first_look_has_the_words_and_no_verdicts(snapshot: Snapshot) -> None:
    found, read = look(snapshot, is_first_look=True)
    assert read == {'"payload"'}
    assert [word.text for word in found.pages[0].words] == [word.text for word in WORDS]
    assert found.item.record.values["/total"] == "9.10"


def test_the_first_look_knows_where_personal_values_stand(snapshot: Snapshot) -> None:
    Snapshot.objects.update(personal=Personal.MASKED)
    snapshot.refresh_from_db()
    found, read = look(snapshot, is_first_look=True)
    assert "review_fieldprediction" in read
    assert found.item.predictions["/total"].bbox is not None


def test_the_second_look_has_the_verdicts_and_no_words(snapshot: Snapshot) -> None:
    found, read = look(snapshot, is_first_look=False)
    assert read == {"review_fieldreview", "review_fieldprediction"}
    assert found.pages[0].reading_id is not None
    assert found.states == {"/company": "model", "/date": "model", "/total": "corrected"}
    assert [label.verdict for label in found.item.labels["/total"]] == ["corrected"]
