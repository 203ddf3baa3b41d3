"""Data sets: taken, watched, cancelled and written by managers."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from review.actions.exports import SNAPSHOT_FORMAT_NAMES
from review.models import DatasetExport, Snapshot, WorkState
from review.web.forms import SNAPSHOT_FORMATS
from tests.conftest import Cast
from tests.review.snapshots import add_reviewed, taken

pytestmark = pytest.mark.django_db
WISHES = {"holding": "reviewed", "personal": "kept", "seed": "2026", "validation": "10", "test": "20"}


def page(client: Client, cast: Cast, snapshot: Snapshot | None = None) -> str:
    if snapshot is None:
        return client.get(reverse("datasets", args=[cast.project.slug])).content.decode()
    return client.get(reverse("dataset", args=[cast.project.slug, snapshot.pk])).content.decode()


def make(cast: Cast, **values: object) -> Snapshot:
    shares = {"seed": "x", "validation_share": 0.1, "test_share": 0.1}
    return Snapshot.objects.create(project=cast.project, **(shares | values))


def test_every_format_that_can_be_written_can_be_chosen() -> None:
    assert tuple(name for name, _ in SNAPSHOT_FORMATS) == SNAPSHOT_FORMAT_NAMES


def test_an_empty_list_says_what_to_do_and_that_there_is_nothing_to_learn_from(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "take the first" in html
    assert "would be empty" in html


def test_the_page_says_how_much_there_is_to_learn_from(manager: Client, cast: Cast) -> None:
    add_reviewed(cast.document_type, "a")
    add_reviewed(cast.document_type, "b", verdicts={})
    html = page(manager, cast)
    assert "<strong>1</strong> record with" in html
    assert "1 stored unseen" in html


def test_a_snapshot_is_asked_for_in_percent(manager: Client, cast: Cast) -> None:
    response = manager.post(reverse("datasets", args=[cast.project.slug]), WISHES)
    snapshot = Snapshot.objects.get()
    assert response.status_code == 302
    assert response["Location"] == reverse("dataset", args=[cast.project.slug, snapshot.pk])
    assert (snapshot.validation_share, snapshot.test_share, snapshot.seed) == (0.1, 0.2, "2026")
    assert snapshot.requested_by == cast.manager


@pytest.mark.parametrize(
    "wrong",
    [{"holding": "most"}, {"seed": ""}, {"validation": "-1"}, {"validation": "50", "test": "50"}, {"test": "nan"}],
)
def test_what_makes_no_sense_is_refused_beside_its_field(manager: Client, cast: Cast, wrong: dict[str, str]) -> None:
    response = manager.post(reverse("datasets", args=[cast.project.slug]), WISHES | wrong)
    assert response.status_code == 400
    assert 'role="alert"' in response.content.decode()
    assert not Snapshot.objects.exists()


def test_a_running_snapshot_shows_how_far_it_is_and_can_be_cancelled(manager: Client, cast: Cast) -> None:
    snapshot = make(cast, state=WorkState.RUNNING, n_records=500, n_done=170)
    for html in (page(manager, cast), page(manager, cast, snapshot)):
        assert '<progress max="500" value="170"' in html
    cancel = reverse("cancel_snapshot", args=[cast.project.slug, snapshot.pk])
    assert cancel in page(manager, cast)
    assert manager.post(cancel).status_code == 302
    snapshot.refresh_from_db()
    assert snapshot.state == WorkState.CANCELLED


def test_a_failure_is_said_with_the_remedy(manager: Client, cast: Cast) -> None:
    make(cast, state=WorkState.FAILED, error_code="held_out_unknown")
    assert "import the set again" in page(manager, cast)


def test_a_taken_snapshot_says_what_it_holds_and_what_was_left_out(manager: Client, cast: Cast) -> None:
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("corrected", "9.10")})
    add_reviewed(cast.document_type, "b", verdicts={})
    snapshot = taken(cast.project)
    html = page(manager, cast, snapshot)
    assert "<strong>1</strong> record with 3 fields and 1 verdicts" in html
    assert "were not settled by people" in html
    assert "seen by nobody" in html
    assert snapshot.sha256 in html
    assert snapshot.manifest["split"]["sides"]["train"]["sha256"] in html


def test_an_archive_is_asked_for_and_listed_with_its_checksum(manager: Client, cast: Cast) -> None:
    snapshot = make(cast, state=WorkState.DONE)
    manager.post(reverse("dataset", args=[cast.project.slug, snapshot.pk]), {"format": "trl", "archive": "tar"})
    export = DatasetExport.objects.get()
    assert (export.snapshot, export.format, export.archive) == (snapshot, "trl", "tar")
    DatasetExport.objects.update(state=WorkState.DONE, sha256="ab" * 32)
    html = page(manager, cast, snapshot)
    assert "ab" * 32 in html
    assert reverse("download_export", args=[cast.project.slug, export.pk]) in html


def test_an_archive_cannot_be_asked_of_what_is_not_taken(manager: Client, cast: Cast) -> None:
    snapshot = make(cast)
    url = reverse("dataset", args=[cast.project.slug, snapshot.pk])
    response = manager.post(url, {"format": "trl", "archive": "zip"}, follow=True)
    assert "not taken" in response.content.decode()
    assert not DatasetExport.objects.exists()


def test_a_cancelled_archive_leads_back_to_its_data_set(manager: Client, cast: Cast) -> None:
    snapshot = make(cast, state=WorkState.DONE)
    export = DatasetExport.objects.create(project=cast.project, snapshot=snapshot, format="coco", archive="zip")
    response = manager.post(reverse("cancel_export", args=[cast.project.slug, export.pk]))
    assert response["Location"] == reverse("dataset", args=[cast.project.slug, snapshot.pk])


def test_a_snapshot_of_another_project_does_not_exist(manager: Client, cast: Cast) -> None:
    other = Snapshot.objects.create(project=cast.other_project, seed="x", validation_share=0, test_share=0)
    assert manager.get(reverse("dataset", args=[cast.project.slug, other.pk])).status_code == 404


def test_the_list_costs_the_same_queries_however_long_it_is(manager: Client, cast: Cast) -> None:
    page(manager, cast)
    counts = []
    for _ in range(2):
        for _ in range(5):
            make(cast, requested_by=cast.manager)
        with CaptureQueriesContext(connection) as queries:
            page(manager, cast)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_page_speaks_chinese(manager: Client, cast: Cast) -> None:
    add_reviewed(cast.document_type, "a")
    snapshot = taken(cast.project)
    manager.cookies["django_language"] = "zh-hans"
    for html in (page(manager, cast), page(manager, cast, snapshot)):
        assert "数据集" in html
