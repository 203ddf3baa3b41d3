"""What a regression set holds out teaches nothing, nor does what looks like it."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from review.models import Document, Page, RegressionItem, RegressionSet
from review.selectors.held_out import HeldOut, held_out_digests, held_out_of, shut_out_ids
from tests.conftest import Cast
from tests.factories import make_routed

LOOK = "0123456789abcdef"


def turned(look: str, bits: int) -> str:
    """A look that differs from this one in so many bits."""
    return f"{int(look, 16) ^ (2**bits - 1):016x}"


FAR = turned(LOOK, 64)


def hold_out(cast: Cast, name: str = "set", **values: Any) -> RegressionItem:
    kept, _ = RegressionSet.objects.get_or_create(
        project=cast.project, name=name, defaults={"document_type": cast.document_type, "digest": name}
    )
    given = {"name": f"{kept.items.count()}.jpg", "sha256": "f" * 64, "perceptual_hashes": [FAR]} | values
    return RegressionItem.objects.create(regression_set=kept, original="x", truth={}, **given)


def looking(cast: Cast, look: str, **values: Any) -> Document:
    document = make_routed(cast.document_type, **values)
    Page.objects.filter(document=document).update(perceptual_hash=look)
    return document


def test_without_a_set_nothing_is_shut_out(cast: Cast) -> None:
    document = looking(cast, "")
    assert held_out_of(cast.project) == HeldOut(frozenset(), ())
    assert shut_out_ids(cast.project, [document.pk]) == set()


def test_the_document_of_a_set_is_shut_out_by_its_bytes(cast: Cast) -> None:
    inside, outside = looking(cast, LOOK), looking(cast, LOOK)
    hold_out(cast, sha256=inside.sha256)
    assert shut_out_ids(cast.project, [inside.pk, outside.pk]) == {inside.pk}
    assert held_out_digests(cast.project, [inside.sha256, outside.sha256]) == {inside.sha256}


@pytest.mark.parametrize(("bits", "is_out"), [(0, True), (8, True), (9, False), (64, False)])
def test_what_looks_like_one_of_them_is_shut_out_up_to_eight_bits(cast: Cast, bits: int, is_out: bool) -> None:
    document = looking(cast, turned(LOOK, bits))
    hold_out(cast, perceptual_hashes=["ffff0000ffff0000", LOOK])
    assert shut_out_ids(cast.project, [document.pk]) == ({document.pk} if is_out else set())


def test_one_page_that_looks_like_one_of_them_shuts_the_whole_document_out(cast: Cast) -> None:
    document = looking(cast, FAR)
    Page.objects.create(
        document=document, page_number=2, image="x", width=1, height=1, content_hash="c", perceptual_hash=LOOK
    )
    hold_out(cast, perceptual_hashes=[turned(LOOK, 20)])
    assert shut_out_ids(cast.project, [document.pk]) == set()
    hold_out(cast, perceptual_hashes=[turned(LOOK, 3)])
    assert shut_out_ids(cast.project, [document.pk]) == {document.pk}


def test_a_page_whose_look_is_not_known_may_be_any_of_them(cast: Cast) -> None:
    document = looking(cast, "")
    hold_out(cast)
    assert shut_out_ids(cast.project, [document.pk]) == {document.pk}


def test_where_the_look_of_a_set_is_not_known_everything_is_shut_out(cast: Cast) -> None:
    document = looking(cast, LOOK)
    hold_out(cast)
    assert shut_out_ids(cast.project, [document.pk]) == set()
    hold_out(cast, perceptual_hashes=[])
    assert held_out_of(cast.project).looks is None
    assert shut_out_ids(cast.project, [document.pk]) == {document.pk}


def test_every_set_of_the_project_holds_out_and_none_of_another_project(cast: Cast) -> None:
    first, second = looking(cast, LOOK), looking(cast, LOOK)
    hold_out(cast, name="a", sha256=first.sha256)
    hold_out(cast, name="b", sha256=second.sha256)
    assert shut_out_ids(cast.project, [first.pk, second.pk]) == {first.pk, second.pk}
    assert shut_out_ids(cast.other_project, [first.pk, second.pk]) == set()


def test_the_number_of_queries_does_not_grow_with_the_documents(cast: Cast) -> None:
    hold_out(cast)

    def n_queries(n: int) -> int:
        ids = [looking(cast, LOOK).pk for _ in range(n)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            shut_out_ids(cast.project, ids)
        return len(queries)

    assert n_queries(1) == n_queries(7) == 3
