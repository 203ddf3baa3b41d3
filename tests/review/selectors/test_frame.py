from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from review.models import FieldMonitor, Membership, Role
from review.selectors.frame import frame_for
from tests import factories
from tests.conftest import Cast


def test_a_member_sees_the_own_role_and_the_own_projects_by_name(cast: Cast) -> None:
    later = factories.make_project("zebra", cast.project.tenant)
    Membership.objects.create(project=later, user=cast.viewer, role=Role.MANAGER)
    frame = frame_for(cast.viewer, cast.project)
    assert frame.role == Role.VIEWER
    assert [one.pk for one in frame.projects] == [
        one.pk for one in sorted((cast.project, later), key=lambda one: one.name)
    ]
    assert frame_for(cast.viewer, later).role == Role.MANAGER


def test_a_stranger_is_shown_no_more_than_a_viewer(cast: Cast) -> None:
    frame = frame_for(cast.stranger, cast.project)
    assert frame.role == Role.VIEWER
    assert cast.project not in frame.projects


def test_a_stopped_field_is_known_in_its_own_project_only(cast: Cast) -> None:
    Membership.objects.create(project=cast.other_project, user=cast.manager, role=Role.MANAGER)
    assert not frame_for(cast.manager, cast.project).has_stopped_fields
    monitor = FieldMonitor.objects.create(
        document_type=cast.document_type, field_path="/total", state={}, tripped_at=timezone.now()
    )
    assert frame_for(cast.manager, cast.project).has_stopped_fields
    assert not frame_for(cast.manager, cast.other_project).has_stopped_fields
    FieldMonitor.objects.filter(pk=monitor.pk).update(ended_at=timezone.now())
    assert not frame_for(cast.manager, cast.project).has_stopped_fields


def test_it_costs_one_query(cast: Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        frame_for(cast.manager, cast.project)
