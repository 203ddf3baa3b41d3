"""Projects, members and tokens are made once, by name, and every act leaves a trace."""

from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.tenancy import (
    add_member,
    create_project,
    create_tenant,
    create_token,
    create_user,
    note_token_use,
    remove_member,
    revoke_token,
    set_language,
    set_password,
)
from review.exceptions import ConflictError, InvalidInputError
from review.models import ApiToken, AuditEntry, Membership, Role
from review.selectors.access import SYSTEM, Actor, role_in
from review.selectors.tokens import actor_for_token, token_digest, tokens_for
from tests import factories
from tests.conftest import Cast


def test_a_tenant_and_a_project_are_created_with_a_trace(db: None) -> None:
    tenant = create_tenant(actor=SYSTEM, slug="acme", name="Acme")
    project = create_project(actor=SYSTEM, tenant=tenant, slug="invoices", name="Invoices")
    assert project.tenant == tenant
    assert list(AuditEntry.objects.order_by("id").values_list("action", "actor_label")) == [
        ("tenant.created", "system"),
        ("project.created", "system"),
    ]


def test_a_taken_slug_is_a_conflict_even_in_another_tenant(cast: Cast) -> None:
    with pytest.raises(ConflictError):
        create_project(actor=SYSTEM, tenant=cast.other_project.tenant, slug=cast.project.slug, name="Again")
    with pytest.raises(ConflictError):
        create_tenant(actor=SYSTEM, slug=cast.project.tenant.slug, name="Again")


def test_a_user_is_created_with_a_usable_password(db: None) -> None:
    user = create_user(actor=SYSTEM, username="lin", password=factories.PASSWORD)
    assert user.check_password(factories.PASSWORD)
    assert not user.is_staff
    with pytest.raises(ConflictError):
        create_user(actor=SYSTEM, username="lin", password="something else")


def test_a_new_password_replaces_the_old_one(cast: Cast) -> None:
    set_password(actor=SYSTEM, user=cast.viewer, password="quite another one")
    cast.viewer.refresh_from_db()
    assert cast.viewer.check_password("quite another one")
    assert not cast.viewer.check_password(factories.PASSWORD)


def test_adding_a_member_again_changes_the_role(cast: Cast) -> None:
    add_member(actor=SYSTEM, project=cast.project, user=cast.viewer, role=Role.MANAGER)
    assert role_in(Actor(cast.viewer), cast.project) == Role.MANAGER
    assert Membership.objects.filter(project=cast.project, user=cast.viewer).count() == 1
    assert AuditEntry.objects.get().action == "membership.changed"


def test_a_removed_member_is_a_stranger_and_their_tokens_are_dead(cast: Cast) -> None:
    new = create_token(actor=Actor(cast.admin), project=cast.project, user=cast.reviewer, role=Role.REVIEWER)
    remove_member(actor=Actor(cast.admin), project=cast.project, user=cast.reviewer)
    assert role_in(Actor(cast.reviewer), cast.project) is None
    assert actor_for_token(new.secret) is None
    remove_member(actor=Actor(cast.admin), project=cast.project, user=cast.reviewer)
    assert AuditEntry.objects.filter(action="membership.removed").count() == 1


def test_a_token_acts_for_its_user_and_its_secret_is_not_kept(cast: Cast) -> None:
    new = create_token(actor=Actor(cast.admin), project=cast.project, user=cast.manager, role=Role.REVIEWER, name="ci")
    actor = actor_for_token(new.secret)
    assert actor is not None
    assert actor.user == cast.manager
    assert actor.api_token == new.token
    row = ApiToken.objects.filter(pk=new.token.pk).values().get()
    assert new.secret not in map(str, row.values())
    assert row["digest"] == token_digest(new.secret)
    assert list(tokens_for(cast.project)) == [new.token]


def test_a_token_is_as_weak_as_the_weaker_of_its_role_and_its_users(cast: Cast) -> None:
    new = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.REVIEWER)
    actor = Actor(cast.manager, new.token)
    assert role_in(actor, cast.project) == Role.REVIEWER
    add_member(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.VIEWER)
    assert role_in(actor, cast.project) == Role.VIEWER


def test_a_token_opens_one_project_only(cast: Cast) -> None:
    add_member(actor=SYSTEM, project=cast.other_project, user=cast.manager, role=Role.MANAGER)
    new = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.MANAGER)
    assert role_in(Actor(cast.manager), cast.other_project) == Role.MANAGER
    assert role_in(Actor(cast.manager, new.token), cast.other_project) is None


def test_a_token_beyond_its_users_role_is_refused(cast: Cast) -> None:
    with pytest.raises(InvalidInputError) as caught:
        create_token(actor=SYSTEM, project=cast.project, user=cast.reviewer, role=Role.MANAGER)
    assert caught.value.details["problems"][0]["pointer"] == "/role"


def test_a_token_for_a_stranger_is_refused(cast: Cast) -> None:
    with pytest.raises(InvalidInputError) as caught:
        create_token(actor=SYSTEM, project=cast.project, user=cast.stranger, role=Role.VIEWER)
    assert caught.value.details["problems"][0]["pointer"] == "/user"


def test_a_revoked_token_is_dead_and_revoked_once(cast: Cast) -> None:
    new = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.VIEWER)
    revoke_token(actor=Actor(cast.admin), token=new.token)
    revoke_token(actor=Actor(cast.admin), token=new.token)
    assert actor_for_token(new.secret) is None
    assert AuditEntry.objects.filter(action="token.revoked").count() == 1


def test_an_expired_token_is_dead(cast: Cast) -> None:
    past = timezone.now() - timedelta(seconds=1)
    new = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.VIEWER, expires_at=past)
    assert actor_for_token(new.secret) is None


def test_a_token_of_an_inactive_user_is_dead(cast: Cast) -> None:
    new = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.VIEWER)
    cast.manager.is_active = False
    cast.manager.save()
    assert actor_for_token(new.secret) is None
    assert role_in(Actor(cast.manager), cast.project) is None


def test_an_unknown_secret_is_nobody(db: None) -> None:
    assert actor_for_token("stet_nothing") is None


def test_the_use_of_a_token_is_noted_at_most_once_a_minute(cast: Cast) -> None:
    token = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.VIEWER).token
    note_token_use(token=token)
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    note_token_use(token=token)
    token.refresh_from_db()
    assert token.last_used_at == first


def test_the_language_of_a_person_is_remembered(cast: Cast) -> None:
    set_language(user=cast.viewer, language="zh-hans")
    cast.viewer.refresh_from_db()
    assert cast.viewer.language == "zh-hans"
