"""The roll-out page: champion and challenger side by side, what differed, start, promote, roll back."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.models import (
    Document,
    EngineVersion,
    EvaluationComparison,
    FieldReview,
    Rollout,
    RolloutStage,
)
from review.tasks_models import forget_models
from review.tasks_rollouts import compare_rollout
from tests import factories
from tests.conftest import Cast
from tests.factories import make_document_type
from tests.review.conftest import Script
from tests.review.queueing import work_off
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send, worse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})


def address(cast: Cast, name: str = "rollouts", **more: Any) -> str:
    return reverse(name, kwargs={"slug": cast.project.slug, "type_slug": cast.document_type.slug, **more})


def page(client: Client, cast: Cast, query: str = "") -> str:
    return client.get(address(cast) + query).content.decode()


def post(client: Client, cast: Cast, name: str, data: dict[str, str] | None = None, **more: Any) -> str:
    return client.post(address(cast, name, **more), data or {}, follow=True).content.decode()


def form(version: EngineVersion, **changes: str) -> dict[str, str]:
    given = {"shadow_share": "100", "disagreement_share": "2", "canary_share": "5"}
    return {"engine_version": str(version.pk)} | given | changes


def settle(cast: Cast, document: Document) -> None:
    """A person says that the total is 10.00."""
    document.review_tasks.all().delete()
    run = document.runs.get(is_current=True)
    task = factories.make_task(document, run)
    FieldReview.objects.create(
        task=task,
        document=document,
        field_path="/total",
        verdict="corrected",
        value="10.00",
        predicted_value="9.00",
        is_correct=False,
        is_in_sample=False,
        inclusion_probability=1.0,
        project=cast.project,
        document_type=cast.document_type,
        engine_version=run.engine_version,
        band="auto",
    )


def test_an_empty_page_says_who_reads_and_where_another_version_would_come_from(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "No other version was ever tried" in html
    assert "None of them was read yet." in html
    assert "There is no other version." in html
    send(cast)
    assert f"{champion()} reads them." in page(manager, cast)


def test_the_pages_of_a_type_lead_to_each_other(manager: Client, cast: Cast) -> None:
    policy = reverse("policy", args=[cast.project.slug, cast.document_type.slug])
    assert f'href="{address(cast)}"' in manager.get(policy).content.decode()
    assert f'href="{policy}"' in page(manager, cast)


def test_an_unknown_type_is_not_found(manager: Client, cast: Cast) -> None:
    wrong = reverse("rollouts", args=[cast.project.slug, "nothing"])
    assert manager.get(wrong).status_code == 404


def test_a_manager_starts_one_from_the_list(manager: Client, cast: Cast) -> None:
    send(cast)
    version = as_good(cast)
    assert f'<option value="{version.pk}">' in page(manager, cast)
    html = post(manager, cast, "start_rollout", form(version, shadow_share="30"))
    rollout = Rollout.objects.get()
    assert (rollout.stage, rollout.shadow_share, rollout.started_by) == ("shadow", 0.3, cast.manager)
    assert "reads 30.0 % of the documents in the shadow" in html
    assert 'id="engine_version"' not in html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shadow_share": "130"}, "Give a share between 0 and 1."),
        ({"canary_share": "few"}, "Give a share between 0 and 1."),
        ({"engine_version": "999999"}, "Choose one of the versions of the list."),
        ({"engine_version": "\x00"}, "Choose one of the versions of the list."),
    ],
)
def test_what_cannot_be_is_said(manager: Client, cast: Cast, changes: dict[str, str], said: str) -> None:
    send(cast)
    assert said in post(manager, cast, "start_rollout", form(as_good(cast), **changes))
    assert not Rollout.objects.exists()


def test_a_version_learned_for_another_type_is_not_offered(manager: Client, cast: Cast) -> None:
    send(cast)
    version = as_good(cast)
    make_document_type(cast.project, "invoice")
    html = manager.get(reverse("rollouts", args=[cast.project.slug, "invoice"])).content.decode()
    assert f'<option value="{version.pk}">' not in html


def test_both_stand_side_by_side_and_what_differed_leads_to_the_document(
    manager: Client, cast: Cast, tmp_path: Path
) -> None:
    send(cast, "before")
    freeze(cast, tmp_path / "set", n=3)
    post(manager, cast, "start_rollout", form(worse(cast), disagreement_share="0"))
    work_off()
    document = send(cast, "differs")
    html = page(manager, cast)
    assert "1 document read twice" in html
    assert "this version falls too far in: total" in html
    total = html[html.index('<th scope="row">Total</th>') :]
    total = total[: total.index("</tr>")]
    assert "0.0 %" in total
    assert "−100.0" in total
    assert "falls too far" in total
    differing = html[html.index('id="differences-title"') :]
    assert "differs.jpg" in differing
    assert reverse("document", args=[cast.project.slug, document.pk]) in differing
    assert f"/documents/{document.pk}/pages/1/crop/?bbox=" in differing
    assert '<td class="value">9.00</td>' in differing
    assert '<td class="value">10.00</td>' in differing
    assert "Promote to" not in html


def test_who_was_right_is_counted_where_a_person_settled_it(manager: Client, cast: Cast) -> None:
    send(cast, "before")
    rolled_out(cast, worse(cast), disagreement_share=0.0)
    document = send(cast, "differs")
    assert "none settled yet" in page(manager, cast)
    settle(cast, document)
    html = page(manager, cast)
    assert "1 of 1" in html
    assert "the champion 0" in html


def test_through_the_gate_it_goes_on_and_back(manager: Client, cast: Cast, tmp_path: Path) -> None:
    send(cast, "before")
    freeze(cast, tmp_path / "set")
    post(manager, cast, "start_rollout", form(as_good(cast)))
    work_off()
    rollout = Rollout.objects.get()
    html = page(manager, cast)
    assert "no field falls too far: it may go on." in html
    assert "Promote to “canary”…" in html
    html = post(manager, cast, "promote_rollout", rollout_id=rollout.pk)
    assert "is in the stage “canary” now." in html
    assert "reads 5.0 % of the documents for real" in html
    html = post(manager, cast, "promote_rollout", rollout_id=rollout.pk)
    assert "has read all documents since" in html
    html = post(manager, cast, "roll_back", {"reason": "totals look wrong"}, rollout_id=rollout.pk)
    assert "Rolled back: totals look wrong" in html
    assert Rollout.objects.get().stage == RolloutStage.RETIRED


def test_a_shut_gate_says_why_and_moves_nothing(manager: Client, cast: Cast) -> None:
    send(cast, "before")
    rollout = rolled_out(cast, worse(cast))
    html = post(manager, cast, "promote_rollout", rollout_id=rollout.pk)
    assert "There is no regression set for this type." in html
    assert Rollout.objects.get().stage == RolloutStage.SHADOW


def test_rolling_back_without_a_reason_is_refused(manager: Client, cast: Cast) -> None:
    rollout = rolled_out(cast, worse(cast))
    assert "Say why" in post(manager, cast, "roll_back", {"reason": " "}, rollout_id=rollout.pk)
    assert Rollout.objects.get().stage == RolloutStage.SHADOW


def test_an_earlier_one_can_be_looked_at(manager: Client, cast: Cast) -> None:
    first = rolled_out(cast, worse(cast), RolloutStage.RETIRED)
    rolled_out(cast, as_good(cast))
    assert "in the shadow" in page(manager, cast)
    assert "was retired at" in page(manager, cast, f"?rollout={first.pk}")
    assert "in the shadow" in page(manager, cast, "?rollout=nonsense")


def fullest(cast: Cast, folder: Path) -> Rollout:
    """A canary beside a live version with a predecessor, which another version stands in for; one difference settled.

    It was compared, on a set that is younger than what it learned.
    """
    before = send(cast, "before")
    challenger = worse(cast)
    retired = rolled_out(cast, as_good(cast, 2.0), RolloutStage.RETIRED)
    live = rolled_out(cast, as_good(cast), RolloutStage.LIVE)
    Rollout.objects.filter(pk=live.pk).update(replaced=retired, champion=champion(), started_by=cast.manager)
    freeze(cast, folder)
    rollout = rolled_out(cast, challenger, disagreement_share=0.0)
    settle(cast, send(cast, "first"))
    assert before.runs.get().engine_version == champion()
    compare_rollout(rollout.pk)
    Rollout.objects.filter(pk=rollout.pk).update(stage=RolloutStage.CANARY, champion=live.engine_version)
    factories.make_routed(cast.document_type).runs.update(engine_version=champion())
    return rollout


def test_the_page_costs_fourteen_queries_at_its_fullest_however_much_differs(
    manager: Client, cast: Cast, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    rollout = fullest(cast, tmp_path / "set")
    page(manager, cast)
    with django_assert_num_queries(14):
        html = page(manager, cast)
    for told in ("as a canary", "reads in place of", "falls too far in: total", "1 of 1", "first.jpg", "Champion: "):
        assert told in html
    Rollout.objects.filter(pk=rollout.pk).update(stage=RolloutStage.SHADOW)
    for number in range(3):
        settle(cast, send(cast, f"more {number}"))
    factories.make_routed(cast.document_type).runs.update(engine_version=champion())
    with django_assert_num_queries(14):
        html = page(manager, cast)
    assert "4 of 4" in html
    assert "reads in place of" in html


def test_the_page_costs_no_more_without_a_live_version_and_without_a_comparison(
    manager: Client, cast: Cast, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    rollout = fullest(cast, tmp_path / "set")
    EvaluationComparison.objects.all().delete()
    page(manager, cast)
    with django_assert_num_queries(14):
        assert "have not been compared" in page(manager, cast)
    Rollout.objects.exclude(pk=rollout.pk).delete()
    with django_assert_num_queries(14):
        assert "have not been compared" in page(manager, cast)
    Rollout.objects.update(stage=RolloutStage.LIVE)
    with django_assert_num_queries(13):
        assert "Try another version" in page(manager, cast)


def test_older_differences_follow(manager: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review.selectors.rollout_figures.DIFFERENCES_SHOWN", 1)
    send(cast, "before")
    rolled_out(cast, worse(cast), disagreement_share=0.0)
    for number in range(2):
        send(cast, f"receipt {number}")
    html = page(manager, cast)
    assert "receipt 1.jpg" in html
    assert "receipt 0.jpg" not in html
    older = html.split('rel="next"')[0].rsplit('href="', 1)[1].split('"')[0].replace("&amp;", "&")
    assert "receipt 0.jpg" in page(manager, cast, older)


def test_in_chinese(manager: Client, cast: Cast) -> None:
    rolled_out(cast, worse(cast))
    manager.post(reverse("choose_language"), {"language": "zh-hans"})
    html = page(manager, cast)
    assert "在现任版本的影子中读取" in html
    assert "Roll back" not in html
