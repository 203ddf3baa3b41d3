"""PaddleOCR-VL, on which vLLM loads no adapter, is taught all the same: merged into weights, served, tried out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from inference.types import VlmSpec
from tests.inference.training.exports import write_export
from tests.vllm.served import ServedHouse, found
from tests.vllm.slip import SCHEMA, ask, first_token

ANSWER = {"total": "7.00"}
STEPS = 12


@dataclass(frozen=True)
class Merged:
    """A server of the merged weights; the version that they were before, and what they were taught."""

    served: ServedHouse
    base: VlmSpec
    spec: VlmSpec
    export: Path


@pytest.fixture(scope="module")
def merged(vllm_venv: Path, tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Merged]:
    base = ServedHouse.declare(tmp_path_factory.mktemp("merged"), tiny, vllm_venv)
    export = write_export(tmp_path_factory.mktemp("snapshot") / "export", {"train": [ANSWER]}, schema=SCHEMA)
    ran = base.house.run(
        *("finetune", "--merge", "--engine-version", str(base.version_id), "--snapshot", str(export)),
        *("--steps", str(STEPS), "--rank", "8", "--batch-size", "1", "--gradient-accumulation", "1"),
        *("--learning-rate", "0.01", "--dropout", "0"),
    )
    assert ran.returncode == 0, ran.stderr
    made = ServedHouse(base.house, int(ran.stdout.split()[-1]), base.port)
    process = made.serve()
    try:
        made.wait_until_ready(process)
        yield Merged(made, base.spec_of(base.version_id), made.spec_of(made.version_id), export)
    finally:
        base.house.close()


def test_the_merged_weights_are_served_under_the_name_of_their_version(merged: Merged) -> None:
    models = httpx.get(f"{merged.served.url}/v1/models").json()["data"]
    assert merged.spec.tied_name in {model["id"] for model in models}
    assert merged.spec.tied_name != merged.base.tied_name
    report = merged.served.probe()
    assert report["is_passed"] is True
    assert found(report, "served_as_declared")["is_passed"] is True


def test_the_weights_alone_are_other_than_before(merged: Merged) -> None:
    before, after = dict(merged.base.weights_sha256), dict(merged.spec.weights_sha256)
    assert {name for name in after if before.get(name) != after[name]} == {"model.safetensors", "training.json"}
    assert before.keys() <= after.keys()


def test_the_server_answers_otherwise_than_that_of_the_old_weights(merged: Merged, served: ServedHouse) -> None:
    taught = json.loads((Path(merged.spec.weights_folder) / "training.json").read_text())
    assert taught["losses"][-1] < 0.85 * taught["losses"][0]
    old = served.spec_of(served.version_id)
    assert dict(old.weights_sha256) == dict(merged.base.weights_sha256)
    after = first_answered(merged.served, merged.spec, merged.export)
    assert after != first_answered(served, old, merged.export)
    assert after == first_answered(merged.served, merged.spec, merged.export), "it is no noise that differs"


def first_answered(served: ServedHouse, spec: VlmSpec, export: Path) -> dict[str, float]:
    return first_token(ask(served.url, spec, export, model=spec.tied_name))
