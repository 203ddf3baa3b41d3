"""The desk's shell: what the scripts find on it, in which language, and what it costs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse

from review.models import Event
from review.web.desk_texts import TEXTS, desk_texts
from tests import factories
from tests.conftest import Cast

SCRIPTS = Path(django_settings.BASE_DIR) / "static" / "js" / "desk"
CODE = {path.name: path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.glob("*.js"))}
# Texts whose name a script puts together: state_…, verdict_…, why a queue is empty, the title of a dialog.
BUILT = re.compile(r"^(state|verdict)_|_(title|reason)$|^(nothing_waits|held_by_others|skipped_by_you)$|^(keep|sum)_")
# Members of the texts that are lists of words, not one text.
GROUPS = {"codes", "evidence_names", "sureness_steps", "unlikely", "unknown"}


def desk_settings(client: Client, cast: Cast, query: str = "", **headers: Any) -> dict[str, Any]:
    answer = client.get(reverse("desk", kwargs={"slug": cast.project.slug}) + query, headers=headers)
    assert answer.status_code == 200
    found = re.search(
        r'<script id="desk-settings" type="application/json">(.*?)</script>', answer.content.decode(), re.S
    )
    assert found is not None
    settings: dict[str, Any] = json.loads(found[1])
    return settings


def test_the_shell_tells_the_scripts_where_everything_is(reviewer: Client, cast: Cast) -> None:
    settings = desk_settings(reviewer, cast)
    assert settings["api"] == "/api/v1/projects/receipts/review-tasks/"
    assert settings["documents_api"] == "/api/v1/projects/receipts/documents/"
    assert settings["user"] == "rui"
    assert settings["task"] is None


def test_the_shell_knows_from_which_event_on_to_listen(reviewer: Client, cast: Cast) -> None:
    event = Event.objects.create(project=cast.project, name="review_task.created", payload={})
    html = reviewer.get(reverse("desk", kwargs={"slug": cast.project.slug})).content.decode()
    assert f'data-socket="/ws/projects/receipts/events/" data-after="{event.pk}" data-gaps="[' in html


@pytest.mark.parametrize(("asked", "task"), [("17", 17), ("-1", None), ("x", None), ("٣", None), ("9" * 40, None)])
def test_the_address_may_name_a_task(reviewer: Client, cast: Cast, asked: str, task: int | None) -> None:
    assert desk_settings(reviewer, cast, f"?task={asked}")["task"] == task


def test_the_shell_takes_no_task(reviewer: Client, cast: Cast) -> None:
    """It may be fetched ahead by a browser: looking at a page changes nothing."""
    document = factories.make_routed(cast.document_type)
    desk_settings(reviewer, cast)
    assert document.review_tasks.get().lease_holder is None


def test_it_sets_the_token_that_saving_needs(reviewer: Client, cast: Cast) -> None:
    desk_settings(reviewer, cast)
    assert reviewer.cookies["csrftoken"].value
    assert not reviewer.cookies["csrftoken"]["httponly"]


@pytest.mark.usefixtures("chinese")
def test_the_texts_are_those_of_the_language(reviewer: Client, cast: Cast) -> None:
    texts = desk_settings(reviewer, cast, **{"accept-language": "zh-hans"})["texts"]
    assert texts["state_doubtful"] == "存疑"
    assert texts["codes"]["low_confidence"]
    assert [name for name in TEXTS if not re.search(r"[\u4e00-\u9fff]", texts[name])] == []


def test_a_viewer_has_no_desk(viewer: Client, cast: Cast) -> None:
    assert viewer.get(reverse("desk", kwargs={"slug": cast.project.slug})).status_code == 403


def test_nothing_on_it_is_inline(reviewer: Client, cast: Cast) -> None:
    content = reviewer.get(reverse("desk", kwargs={"slug": cast.project.slug})).content.decode()
    assert re.findall(r"\sstyle=|\son[a-z]+=|<style", content) == []
    assert re.findall(r"<script(?![^>]*(?:src=|application/json))", content) == []


def test_the_number_that_waits_stands_beside_the_link(reviewer: Client, viewer: Client, cast: Cast) -> None:
    for _ in range(3):
        factories.make_routed(cast.document_type)
    documents = reverse("documents", kwargs={"slug": cast.project.slug})
    assert '<span class="number" id="n-waiting">3</span>' in reviewer.get(documents).content.decode()
    assert "n-waiting" not in viewer.get(documents).content.decode()


def test_queries_do_not_grow_with_what_waits(reviewer: Client, cast: Cast, django_assert_max_num_queries: Any) -> None:
    for _ in range(30):
        factories.make_routed(cast.document_type)
    with django_assert_max_num_queries(12):
        desk_settings(reviewer, cast)


def test_every_text_that_a_script_says_is_there() -> None:
    code = "\n".join(CODE.values())
    said = set(re.findall(r"\btexts\.(\w+)", code)) | set(re.findall(r'\bsay\(\s*"(\w+)"', code))
    assert sorted(said - set(TEXTS) - GROUPS) == []


def test_every_text_is_said_by_a_script() -> None:
    code = "\n".join(CODE.values())
    silent = [name for name in TEXTS if not BUILT.search(name) and not re.search(rf"\b{name}\b", code)]
    assert silent == []


def test_placeholders_of_a_text_are_words() -> None:
    for name, text in desk_texts().items():
        if isinstance(text, str):
            assert "{}" not in text, name


@pytest.mark.parametrize("name", CODE)
def test_a_script_is_small_and_imports_by_relative_path(name: str) -> None:
    lines = CODE[name].splitlines()
    assert len(lines) <= 460
    sources = re.findall(r'^(?:import|export) .*? from "([^"]+)"', CODE[name], re.M | re.S)
    assert [source for source in sources if not source.startswith("./") and not source.startswith("../")] == []


@pytest.mark.parametrize("name", CODE)
def test_a_script_writes_no_markup(name: str) -> None:
    """Text of a document never becomes an element."""
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|setAttribute\(\s*.style", CODE[name])
        == []
    )
