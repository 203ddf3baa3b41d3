"""What the relay and a returning client read of the event table."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.utils import timezone

from review.exceptions import NotFoundError
from review.models import Event, Membership, Project
from review.selectors import events as selector
from review.selectors.events import (
    COMMIT_LAG,
    Position,
    access_events,
    events_for,
    late_events_for,
    latest_event_id,
    missing_ids,
    new_events,
    position_now,
)
from tests import factories
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db: None) -> Project:
    return factories.make_project("receipts")


def add(project: Project, *ids: int, age: timedelta = timedelta()) -> None:
    for pk in ids:
        Event.objects.create(pk=pk, project=project, name="document.routed", payload={"document_id": pk})
    Event.objects.filter(pk__in=ids).update(created_at=timezone.now() - age)


def ids(rows: list[selector.EventRow]) -> list[int]:
    return [row.id for row in rows]


def test_the_latest_id_of_no_events_is_zero(project: Project) -> None:
    assert latest_event_id() == 0
    add(project, 3, 7)
    assert latest_event_id() == 7


def test_ids_that_no_row_has_are_missing(project: Project) -> None:
    add(project, 2, 3, 6)
    assert missing_ids(6, 1000) == {1, 4, 5}
    assert missing_ids(6, 3) == {4, 5}
    assert missing_ids(0, 10) == set()


def test_new_events_are_those_after_and_those_that_were_missing(project: Project) -> None:
    other = factories.make_project("other")
    add(project, 1, 2, 4)
    add(other, 5)
    assert ids(new_events(3, [], 10)) == [4, 5]
    assert ids(new_events(3, [2, 9], 10)) == [2, 4, 5]
    assert ids(new_events(0, [], 2)) == [1, 2]
    assert new_events(4, [], 1)[0].project_id == other.pk


def test_a_clients_events_are_those_of_its_project(project: Project) -> None:
    add(project, 1, 3)
    add(factories.make_project("other"), 2)
    [row] = events_for(project.pk, 1, 10)
    assert (row.id, row.name, row.payload) == (3, "document.routed", {"document_id": 3})


@pytest.mark.sqlite
def test_on_sqlite_nothing_is_committed_late(project: Project) -> None:
    add(project, 1, 2)
    assert late_events_for(project.pk, 2) == []
    add(project, 5)
    assert position_now() == Position(5, [])


class TestLate:
    @pytest.fixture(autouse=True)
    def _postgres(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(selector, "connection", SimpleNamespace(vendor="postgresql"))

    def test_events_that_may_have_been_in_flight_are_sent_again(self, project: Project) -> None:
        add(project, 1, age=COMMIT_LAG * 2)
        add(project, 2, 3, 4)
        assert ids(late_events_for(project.pk, 4)) == [2, 3]

    def test_how_far_back_is_bounded(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(selector, "LATE_IDS", 2)
        add(project, 1, 2, 3, 4)
        assert ids(late_events_for(project.pk, 4)) == [3]

    def test_an_id_that_was_pruned_has_nothing_late(self, project: Project) -> None:
        add(project, 1)
        assert late_events_for(project.pk, 9) == []

    def test_other_projects_are_left_out(self, project: Project) -> None:
        add(factories.make_project("other"), 1)
        add(project, 2)
        assert late_events_for(project.pk, 2) == []

    def test_a_page_shows_all_but_what_nobody_could_see(self, project: Project) -> None:
        assert position_now() == Position(0, [])
        add(project, 2, 3, 6)
        add(factories.make_project("other"), 8)
        assert position_now() == Position(8, [[7, 7], [4, 5], [1, 1]])

    def test_a_page_looks_for_gaps_as_far_back_as_events_are_sent_again(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selector, "LATE_IDS", 3)
        add(project, 1, 4, 7)
        assert position_now() == Position(7, [[5, 6]])
        add(project, 5, 6)
        assert position_now() == Position(7, [])


# --- who may listen ----------------------------------------------------------------------------------------------


def session_of(cast: Cast) -> SessionStore:
    client = Client()
    client.force_login(cast.viewer, backend="django.contrib.auth.backends.ModelBackend")
    return SessionStore(client.session.session_key)


def test_a_member_with_a_live_session_listens(cast: Cast) -> None:
    assert access_events("receipts", user_id=cast.viewer.pk, session=session_of(cast)) == cast.project


@pytest.mark.parametrize("slug", ["elsewhere", "nowhere"])
def test_a_foreign_project_looks_like_none(cast: Cast, slug: str) -> None:
    with pytest.raises(NotFoundError):
        access_events(slug, user_id=cast.viewer.pk, session=None)


def test_a_removed_member_no_longer_listens(cast: Cast) -> None:
    session = session_of(cast)
    Membership.objects.filter(user=cast.viewer).delete()
    with pytest.raises(NotFoundError):
        access_events("receipts", user_id=cast.viewer.pk, session=session)


def test_an_inactive_user_no_longer_listens(cast: Cast) -> None:
    cast.viewer.is_active = False
    cast.viewer.save()
    with pytest.raises(NotFoundError):
        access_events("receipts", user_id=cast.viewer.pk, session=None)


def test_an_ended_session_no_longer_listens(cast: Cast) -> None:
    session = session_of(cast)
    SessionStore(session.session_key).flush()
    with pytest.raises(NotFoundError):
        access_events("receipts", user_id=cast.viewer.pk, session=session)


def test_a_session_of_somebody_else_opens_nothing(cast: Cast) -> None:
    with pytest.raises(NotFoundError):
        access_events("receipts", user_id=cast.reviewer.pk, session=session_of(cast))
