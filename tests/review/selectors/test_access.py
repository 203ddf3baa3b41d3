"""One door: roles open it, strangers see nothing, and a missing object looks like another tenant's."""

from collections.abc import Callable

import pytest

from review.exceptions import ForbiddenError, NotFoundError
from review.models import DatasetExport, Record, ReviewTask, Role, User
from review.selectors.access import (
    SYSTEM,
    Actor,
    access_document,
    access_document_type,
    access_export,
    access_page,
    access_project,
    access_record,
    access_review_task,
    projects_for,
    role_in,
)
from tests import factories
from tests.conftest import Cast

HELD = {"admin": Role.ADMIN, "manager": Role.MANAGER, "reviewer": Role.REVIEWER, "viewer": Role.VIEWER}


@pytest.mark.parametrize("needed", list(Role))
@pytest.mark.parametrize("name", list(HELD))
def test_a_project_opens_for_roles_that_include_the_needed_one(cast: Cast, name: str, needed: Role) -> None:
    actor = Actor(getattr(cast, name))
    if HELD[name].includes(needed):
        assert access_project(actor, "receipts", needed) == cast.project
    else:
        with pytest.raises(ForbiddenError):
            access_project(actor, "receipts", needed)


def test_a_strangers_project_and_a_missing_one_look_alike(cast: Cast) -> None:
    errors = []
    for slug in ("receipts", "missing"):
        with pytest.raises(NotFoundError) as caught:
            access_project(Actor(cast.stranger), slug)
        errors.append((type(caught.value), caught.value.code, str(caught.value.message), caught.value.details))
    assert errors[0] == errors[1]


def test_stet_itself_may_do_everything(cast: Cast) -> None:
    assert access_project(SYSTEM, "receipts", Role.ADMIN) == cast.project
    assert SYSTEM.label == "system"
    assert set(projects_for(SYSTEM)) == {cast.project, cast.other_project}


def test_an_inactive_user_is_a_stranger(cast: Cast) -> None:
    cast.manager.is_active = False
    assert role_in(Actor(cast.manager), cast.project) is None


def test_people_see_their_own_projects_only(cast: Cast) -> None:
    assert list(projects_for(Actor(cast.viewer))) == [cast.project]
    assert list(projects_for(Actor(cast.stranger))) == [cast.other_project]


def test_a_document_type_of_another_project_is_not_found(cast: Cast) -> None:
    only_there = factories.make_document_type(cast.other_project, "invoice")
    assert access_document_type(cast.other_project, "invoice") == only_there
    with pytest.raises(NotFoundError):
        access_document_type(cast.project, "invoice")


Door = Callable[[Actor, str, int], object]


@pytest.fixture
def objects(cast: Cast) -> dict[str, int]:
    """One object of each kind in the cast's project."""
    document = factories.make_routed(cast.document_type)
    run = document.runs.get()
    return {
        "document": document.pk,
        "page": document.pk,
        "task": ReviewTask.objects.get().pk,
        "record": Record.objects.create(
            project=cast.project, document=document, revision=1, run=run, values={}, provenance={}
        ).pk,
        "export": DatasetExport.objects.create(project=cast.project, format="jsonl").pk,
    }


DOORS: list[tuple[str, Door, str]] = [
    ("document", access_document, "viewer"),
    ("page", lambda actor, slug, pk: access_page(actor, slug, pk, 1), "viewer"),
    ("task", access_review_task, "reviewer"),
    ("record", access_record, "viewer"),
    ("export", access_export, "manager"),
]


@pytest.mark.parametrize(("kind", "door", "least"), DOORS)
def test_each_object_opens_for_the_least_role_and_not_for_strangers(
    cast: Cast, objects: dict[str, int], kind: str, door: Door, least: str
) -> None:
    user: User = getattr(cast, least)
    assert door(Actor(user), "receipts", objects[kind])
    for actor, slug in [(Actor(cast.stranger), "receipts"), (Actor(cast.stranger), "elsewhere")]:
        with pytest.raises(NotFoundError):
            door(actor, slug, objects[kind])
    with pytest.raises(NotFoundError):
        door(Actor(user), "receipts", objects[kind] + 1000)


@pytest.mark.parametrize(
    ("kind", "door", "below"), [("task", access_review_task, "viewer"), ("export", access_export, "reviewer")]
)
def test_a_smaller_role_is_told_so(cast: Cast, objects: dict[str, int], kind: str, door: Door, below: str) -> None:
    with pytest.raises(ForbiddenError):
        door(Actor(getattr(cast, below)), "receipts", objects[kind])


def test_a_duplicate_shows_the_pages_of_the_first_document(cast: Cast) -> None:
    first = factories.make_routed(cast.document_type)
    again = factories.make_document(cast.document_type, duplicate_of=first)
    assert access_page(Actor(cast.viewer), "receipts", again.pk, 1).document_id == first.pk
