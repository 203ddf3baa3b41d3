"""Lists are walked by keyset, and a cursor from elsewhere is refused."""

import base64
from urllib.parse import quote

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from tests import factories
from tests.conftest import Cast

DOCUMENTS = "/api/v1/projects/receipts/documents/"
TASKS = "/api/v1/projects/receipts/review-tasks/"


def cursor(text: str) -> str:
    return quote(base64.b64encode(text.encode()).decode())


def walk(client: APIClient, url: str | None, link: str = "next") -> list[list[int]]:
    pages = []
    while url is not None:
        answer = client.get(url).json()
        pages.append([found["id"] for found in answer["results"]])
        url = answer[link]
    return pages


def test_a_list_is_walked_to_its_end_and_back(cast: Cast, as_viewer: APIClient) -> None:
    ids = [factories.make_document(cast.document_type).pk for _ in range(5)][::-1]
    assert walk(as_viewer, f"{DOCUMENTS}?page_size=2") == [ids[:2], ids[2:4], ids[4:]]
    last = as_viewer.get(as_viewer.get(as_viewer.get(f"{DOCUMENTS}?page_size=2").json()["next"]).json()["next"]).json()
    assert last["next"] is None
    assert walk(as_viewer, last["previous"], "previous") == [ids[2:4], ids[:2]]


def test_what_arrives_in_the_meantime_moves_nothing(cast: Cast, as_viewer: APIClient) -> None:
    ids = [factories.make_document(cast.document_type).pk for _ in range(4)][::-1]
    first = as_viewer.get(f"{DOCUMENTS}?page_size=2").json()
    factories.make_document(cast.document_type)
    assert walk(as_viewer, first["next"]) == [ids[2:]]


def test_filters_stay_on_the_way(cast: Cast, as_viewer: APIClient) -> None:
    kept = [factories.make_document(cast.document_type, filename=f"a{n}.jpg").pk for n in range(3)][::-1]
    factories.make_document(cast.document_type, filename="b.jpg")
    assert walk(as_viewer, f"{DOCUMENTS}?page_size=2&filename=a") == [kept[:2], kept[2:]]


@pytest.mark.parametrize("size", ["0", "-1", "201", "x", "", "1.5", "٣", "99999999999999999999"])
@pytest.mark.parametrize("path", [DOCUMENTS, TASKS])
def test_an_impossible_page_size_is_refused(cast: Cast, as_reviewer: APIClient, path: str, size: str) -> None:
    answer = as_reviewer.get(path, {"page_size": size})
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == "/page_size"


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "%00",
        cursor("p=abc"),
        cursor("p=1.5"),
        cursor("p=99999999999999999999"),
        cursor("p=-1"),
        cursor("p=\0"),
        cursor("o=x&p=1"),
        "A" * 5000,
    ],
)
@pytest.mark.parametrize("path", [DOCUMENTS, TASKS])
def test_a_cursor_that_is_none_of_ours_is_refused(cast: Cast, as_reviewer: APIClient, path: str, text: str) -> None:
    answer = as_reviewer.get(f"{path}?cursor={text}")
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == "/cursor"


def test_the_queue_is_walked_by_importance_and_then_age(cast: Cast, as_reviewer: APIClient) -> None:
    priorities = [0, 5, 0, -3, 5, 0]
    tasks = [
        factories.make_routed(cast.document_type, priority=priority).review_tasks.get().pk for priority in priorities
    ]
    expected = [tasks[1], tasks[4], tasks[0], tasks[2], tasks[5], tasks[3]]
    pages = walk(as_reviewer, f"{TASKS}?page_size=1")
    assert [found for page in pages for found in page] == expected
    assert walk(as_reviewer, f"{TASKS}?page_size=4") == [expected[:4], expected[4:]]
    assert as_reviewer.get(TASKS).json()["previous"] is None


def test_the_next_page_of_the_queue_keeps_filter_and_size(cast: Cast, as_reviewer: APIClient) -> None:
    other = factories.make_document_type(cast.project, "invoice")
    mine = [factories.make_routed(cast.document_type).review_tasks.get().pk for _ in range(3)]
    factories.make_routed(other)
    assert walk(as_reviewer, f"{TASKS}?page_size=2&document_type=receipt") == [mine[:2], mine[2:]]


@pytest.mark.parametrize("n_tasks", [2, 30])
def test_the_queue_costs_as_many_queries_however_long_it_is(
    cast: Cast, as_reviewer: APIClient, n_tasks: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(n_tasks):
        factories.make_routed(cast.document_type)
    as_reviewer.get(TASKS)
    with django_assert_max_num_queries(4):
        assert len(as_reviewer.get(TASKS).json()["results"]) == n_tasks
