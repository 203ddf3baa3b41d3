"""What the gate says, in which order, and that it asks about who reads now, not about who read when it began."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone, translation

from inference.serving.vllm_command import DEFAULT_FLAGS
from review.accuracy.comparison import PairedField
from review.accuracy.comparison import compare as compare_pairs
from review.actions.engines import declare_engine_version
from review.models import (
    Document,
    EngineVersion,
    EvaluationComparison,
    RegressionItem,
    RegressionSet,
    Rollout,
    RolloutStage,
    TrainedModel,
)
from review.selectors.access import SYSTEM
from review.selectors.gate import Gate, gate_of, n_that_taught
from review.selectors.rollouts import access_rollout, champion_of
from review.tasks_comparison import compare_versions
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.inference.serving.asking import a_spec
from tests.review.conftest import Script
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send, worse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})


def gate(cast: Cast, version: EngineVersion) -> Gate:
    rollout = Rollout.objects.filter(engine_version=version).first() or rolled_out(cast, version)
    return gate_of(access_rollout(cast.document_type, rollout.pk))


def compare(cast: Cast, tmp_path: Path, version: EngineVersion, n: int = 2) -> EvaluationComparison:
    kept = freeze(cast, tmp_path / "set", n)
    return compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=version)


def test_where_nothing_was_read_there_is_no_champion(cast: Cast) -> None:
    found = gate(cast, as_good(cast))
    assert (found.refusal, found.champion, found.is_open) == ("no_champion", None, False)


@pytest.mark.parametrize(("n", "n_lost", "is_open"), [(199, 1, False), (200, 1, True), (200, 2, False)])
def test_one_of_two_hundred_may_be_lost_no_more_and_none_of_fewer(
    cast: Cast, tmp_path: Path, n: int, n_lost: int, is_open: bool
) -> None:
    send(cast)
    stored = compare(cast, tmp_path, as_good(cast))
    pairs = [PairedField(str(number), "/total", True, number >= n_lost) for number in range(n)]
    found = compare_pairs(pairs, {})
    changed = {"is_blocked": found.is_blocked, "results": found.as_json()}
    EvaluationComparison.objects.filter(pk=stored.pk).update(**changed)
    asked = gate(cast, as_good(cast))
    assert (asked.is_open, asked.refusal) == (is_open, "" if is_open else "falls")
    assert ("total" in asked.message) != is_open


def test_a_comparison_on_a_part_of_the_set_is_none(cast: Cast, tmp_path: Path) -> None:
    send(cast)
    stored = compare(cast, tmp_path, as_good(cast))
    EvaluationComparison.objects.filter(pk=stored.pk).update(is_whole=False)
    assert gate(cast, as_good(cast)).refusal == "no_comparison"


def test_the_comparison_must_be_with_who_reads_now(cast: Cast, tmp_path: Path) -> None:
    send(cast)
    compare(cast, tmp_path, as_good(cast))
    assert gate(cast, as_good(cast)).is_open
    rolled_out(cast, worse(cast), RolloutStage.LIVE)
    assert champion_of(cast.document_type) == worse(cast)
    assert gate(cast, as_good(cast)).refusal == "no_comparison"


def test_the_newest_comparison_counts(cast: Cast, tmp_path: Path) -> None:
    send(cast)
    first = compare(cast, tmp_path, as_good(cast))
    EvaluationComparison.objects.filter(pk=first.pk).update(is_blocked=True)
    assert not gate(cast, as_good(cast)).is_open
    compare(cast, tmp_path, as_good(cast))
    assert gate(cast, as_good(cast)).is_open


def test_only_documents_that_were_there_before_the_training_and_held_out_after_it_may_have_taught(
    cast: Cast, tmp_path: Path
) -> None:
    version = as_good(cast)
    send(cast, "test 0")
    kept = freeze(cast, tmp_path / "set")
    version = EngineVersion.objects.select_related("locator__training_run", "calibrator").get(pk=version.pk)
    # Trained before the document came, then after the set was frozen, then in between.
    assert n_that_taught(kept, version) == 0
    for moved, n in ((timedelta(hours=1), 0), (timedelta(0), 1)):
        at = timezone.now() + moved
        if n:
            document = cast.document_type.documents.get()
            at = document.received_at + timedelta(microseconds=1)
        TrainedModel.objects.update(created_at=at)
        version = EngineVersion.objects.select_related("locator__training_run", "calibrator").get(pk=version.pk)
        assert n_that_taught(kept, version) == n
    assert n_that_taught(kept, champion()) == 0
    # What another project had held out before is no matter here.
    item = kept.items.get(name="test0.jpg")
    theirs = RegressionSet.objects.create(
        project=cast.other_project, document_type=cast.other_document_type, name="theirs", number=1, digest="d"
    )
    RegressionItem.objects.create(regression_set=theirs, name=item.name, sha256=item.sha256, truth={})
    RegressionSet.objects.filter(pk=theirs.pk).update(created_at=kept.created_at - timedelta(days=1))
    assert n_that_taught(kept, version) == 1


def test_why_not_is_said_in_the_language_of_who_asks(cast: Cast) -> None:
    found = gate(cast, as_good(cast))
    with translation.override("zh-hans"):
        assert found.message == "这种类型还没有文档被读取过，没有可比较的对象。"
    assert Gate("", None).message == ""


ADAPTER = {
    "adapter": "tuned",
    "adapter_folder": "/adapters/tuned",
    "adapter_sha256": {"adapter_model.safetensors": "0" * 64},
    "server_flags": {**DEFAULT_FLAGS, "enable-lora": True},
}


def registered_after(document: Document, **spec: object) -> EngineVersion:
    """A language model's version that was registered when the document was here already."""
    version = declare_engine_version(actor=SYSTEM, spec=a_spec(**spec))
    EngineVersion.objects.filter(pk=version.pk).update(created_at=document.received_at + timedelta(microseconds=1))
    version.refresh_from_db()
    return version


MERGED = {"weights_sha256": {"model.safetensors": "0" * 64, "training.json": "1" * 64}}


@pytest.mark.parametrize("taught", [ADAPTER, MERGED])
def test_what_was_taught_here_may_have_learned_from_what_was_held_out_after_it(
    cast: Cast, tmp_path: Path, taught: Mapping[str, Any]
) -> None:
    document = send(cast, "test 0")
    version = registered_after(document, **taught)
    assert n_that_taught(freeze(cast, tmp_path / "set"), version) == 1


def test_what_was_held_out_before_has_not_taught_it(cast: Cast, tmp_path: Path) -> None:
    send(cast, "test 0")
    frozen = freeze(cast, tmp_path / "set")
    assert n_that_taught(frozen, declare_engine_version(actor=SYSTEM, spec=a_spec(**ADAPTER))) == 0


def test_bare_weights_learned_nothing_here(cast: Cast, tmp_path: Path) -> None:
    document = send(cast, "test 0")
    version = registered_after(document)
    assert n_that_taught(freeze(cast, tmp_path / "set"), version) == 0
