"""How often somebody looks again is a manager's act: checked, kept, written down."""

import math

import pytest
from django.db import IntegrityError, transaction

from review.actions.second_looks import set_second_look_shares
from review.exceptions import InvalidInputError
from review.models import AuditEntry, Project
from tests.conftest import Cast
from tests.review.actions.review_room import actor


def set_shares(cast: Cast, second: float, seeded: float) -> Project:
    return set_second_look_shares(
        actor=actor(cast.manager), project=cast.project, second_review_share=second, seeded_share=seeded
    )


def test_at_first_nobody_looks_again(cast: Cast) -> None:
    assert (cast.project.second_review_share, cast.project.seeded_share) == (0, 0)


@pytest.mark.parametrize(("second", "seeded"), [(0.05, 0.01), (1, 1), (0, 0.5)])
def test_shares_are_kept_and_written_down(cast: Cast, second: float, seeded: float) -> None:
    project = set_shares(cast, second, seeded)
    cast.project.refresh_from_db()
    assert (cast.project.second_review_share, cast.project.seeded_share) == (second, seeded)
    assert (project.second_review_share, project.seeded_share) == (second, seeded)
    entry = AuditEntry.objects.get(action="project.second_looks_set")
    assert (entry.actor, entry.project) == (cast.manager, cast.project)
    assert entry.detail == {
        "from": {"second_review_share": 0.0, "seeded_share": 0.0},
        "to": {"second_review_share": second, "seeded_share": seeded},
    }


def test_setting_the_same_again_writes_nothing_down(cast: Cast) -> None:
    set_shares(cast, 0.05, 0.01)
    set_shares(cast, 0.05, 0.01)
    assert AuditEntry.objects.filter(action="project.second_looks_set").count() == 1


@pytest.mark.parametrize("wrong", [-0.01, 1.01, math.nan, math.inf])
def test_a_share_beyond_0_and_1_is_refused_where_it_stands(cast: Cast, wrong: float) -> None:
    for second, seeded, pointers in (
        (wrong, 0.0, ["/second_review_share"]),
        (0.0, wrong, ["/seeded_share"]),
        (wrong, wrong, ["/second_review_share", "/seeded_share"]),
    ):
        with pytest.raises(InvalidInputError) as caught:
            set_shares(cast, second, seeded)
        assert [problem["pointer"] for problem in caught.value.details["problems"]] == pointers
    cast.project.refresh_from_db()
    assert (cast.project.second_review_share, cast.project.seeded_share) == (0, 0)


@pytest.mark.parametrize("column", ["second_review_share", "seeded_share"])
def test_the_database_keeps_no_share_beyond_1(cast: Cast, column: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.filter(pk=cast.project.pk).update(**{column: 1.5})
