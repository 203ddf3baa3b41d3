"""A model that runs is taught what people settled: trained, registered, loaded beside it, tried out, answering."""

import hashlib
import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from inference.serving.adapters import load_adapter
from inference.serving.chat import chat_client
from inference.serving.weights import WeightsError, manifest_of
from inference.training.child import run_training
from inference.training.exported import Exported
from inference.training.plan import TrainingPlan
from inference.training.prepare import prepare
from inference.types import VlmSpec
from tests.faults.house import free_port
from tests.inference.training.exports import write_export
from tests.review.conftest import picture
from tests.vllm.served import ServedHouse
from tests.vllm.slip import SCHEMA, ask, first_token

ROOT = Path(__file__).resolve().parents[2]
# One at a time: side by side a processor rounds otherwise than in turn, on some by more than this tiny model, once it
# is taught, tells two pages apart; its self-test says so, rightly.
FLAGS = {"enable-lora": True, "max-loras": 2, "max-lora-rank": 8, "max-num-seqs": 1}
MAY_LOAD = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"}
TOTALS = ("3.00", "5.00", "7.00")
STEPS = 8


@dataclass(frozen=True)
class Taught:
    """A served house whose model has been taught; what the command said, and the version that came of it."""

    served: ServedHouse
    export: Path
    told: str
    version_id: int
    spec: VlmSpec

    @property
    def adapter(self) -> Path:
        return Path(self.spec.adapter_folder)

    def ask(self, model: str) -> dict[str, Any]:
        return ask(self.served.url, self.spec, self.export, model=model)


@pytest.fixture(scope="module")
def base(vllm_venv: Path, tiny_with_adapter: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHouse]:
    """The tiny LightOnOCR on a server that may load adapters while it runs."""
    made = ServedHouse.declare(
        tmp_path_factory.mktemp("taught"), tiny_with_adapter, vllm_venv, flags=FLAGS, environment=MAY_LOAD
    )
    process = made.serve()
    try:
        made.wait_until_ready(process)
        yield made
    finally:
        made.house.close()


def finetune(served: ServedHouse, export: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    options = ("--steps", str(STEPS), "--rank", "8", "--batch-size", "3", "--gradient-accumulation", "1")
    # Taught faster, this tiny model hardly looks at its image any more, and the self-test says so.
    return served.house.run(
        *("finetune", "--engine-version", str(served.version_id), "--snapshot", str(export)),
        *(*options, "--learning-rate", "0.002", "--dropout", "0", *arguments),
    )


@pytest.fixture(scope="module")
def held_out(base: ServedHouse, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A regression set of the house, frozen before anything is taught."""
    folder = tmp_path_factory.mktemp("held_out")
    for part in ("img", "key"):
        (folder / part).mkdir()
    for name in ("first", "second"):
        (folder / "img" / f"{name}.jpg").write_bytes(picture(f"held out {name}"))
        (folder / "key" / f"{name}.json").write_text(json.dumps({"total": "9.00", "company": "BOOK TA K SDN BHD"}))
    imported = base.house.run(
        *("import_labels", str(folder), "--layout", "sroie", "--project", "p", "--type", "receipt", "--name", "held")
    )
    assert imported.returncode == 0, imported.stderr
    return "held"


@pytest.fixture(scope="module")
def taught(base: ServedHouse, held_out: str, tmp_path_factory: pytest.TempPathFactory) -> Taught:
    assert held_out
    answers = {"train": [{"total": total} for total in TOTALS], "validation": [{"total": "9.00"}]}
    export = write_export(tmp_path_factory.mktemp("snapshot") / "export", answers, schema=SCHEMA)
    ran = finetune(base, export)
    assert ran.returncode == 0, ran.stderr
    version_id = int(ran.stdout.split()[-1])
    return Taught(base, export, ran.stderr, version_id, base.spec_of(version_id))


def test_the_loss_falls(taught: Taught) -> None:
    told = json.loads((taught.adapter / "training.json").read_text())
    losses = told["losses"]
    assert len(losses) == STEPS
    assert losses[-1] < 0.9 * losses[0]
    assert told["n_train"] == len(TOTALS)
    assert set(told["validation_loss"]) == {"before", "after"}
    assert told["validation_loss"]["after"] < told["validation_loss"]["before"]
    for step in (1, STEPS):
        assert f"step {step} of {STEPS}: loss {losses[step - 1]:.4f}" in taught.told


def test_the_adapter_is_a_version_of_its_own_with_its_checksums(taught: Taught) -> None:
    base = taught.served.spec_of(taught.served.version_id)
    own = {"adapter", "adapter_folder", "adapter_sha256"}
    assert {name for name, value in taught.spec.as_json().items() if base.as_json().get(name) != value} == own
    assert taught.spec.adapter_sha256 == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in taught.adapter.iterdir()
    }
    assert set(taught.spec.adapter_sha256) == {"adapter_config.json", "adapter_model.safetensors", "training.json"}
    assert taught.adapter.is_relative_to(taught.served.house.folder / "adapters")
    [row] = taught.served.house.rows("SELECT detail FROM review_auditentry WHERE action = 'engine_version.fine_tuned'")
    detail = json.loads(row[0])
    manifest = (taught.export / "manifest.json").read_bytes()
    assert detail["snapshot_sha256"] == hashlib.sha256(manifest).hexdigest()
    assert (detail["base"], detail["digest"]) == (base.digest, taught.spec.digest)


def test_the_running_server_answers_by_the_adapters_name_and_otherwise_than_before(taught: Taught) -> None:
    models = httpx.get(f"{taught.served.url}/v1/models").json()["data"]
    base = taught.served.spec_of(taught.served.version_id)
    assert {taught.spec.tied_name, base.tied_name} <= {model["id"] for model in models}
    bare, adapted = taught.ask(base.tied_name), taught.ask(taught.spec.tied_name)
    assert adapted["model"] == taught.spec.tied_name
    assert first_token(bare) != first_token(adapted)
    assert first_token(adapted) == first_token(taught.ask(taught.spec.tied_name)), "it is no noise that differs"


def test_the_self_test_is_kept_and_what_comes_next_is_told(taught: Taught) -> None:
    found = f"SELECT is_passed, report FROM review_selftest WHERE engine_version_id = {taught.version_id}"
    [(is_passed, report)] = taught.served.house.rows(found)
    checks = {check["name"]: check for check in json.loads(report)["checks"]}
    assert is_passed, [name for name, check in checks.items() if not check["is_passed"]]
    assert checks["served_as_declared"]["is_passed"] is True
    assert checks["adapter"]["found"]["shift"] > 0
    assert "Self-test: passed" in taught.told
    assert f"--compare {taught.served.version_id} {taught.version_id}" in taught.told
    assert "roll-out" in taught.told


def rollouts(port: int, token: str, path: str = "", **asked: Any) -> httpx.Response:
    """Ask the product's API for a roll-out of receipts, or for what `path` says of one."""
    address = f"http://127.0.0.1:{port}/api/v1/projects/p/document-types/receipt/rollouts/{path}"
    return httpx.post(address, json=asked, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def test_the_taught_version_is_compared_and_goes_no_further_than_the_comparison_allows(
    taught: Taught, held_out: str
) -> None:
    house, old, new = taught.served.house, taught.served.version_id, taught.version_id
    compared = house.run("evaluate", "--project", "p", "--set", held_out, "--compare", str(old), str(new), "--json")
    assert compared.returncode in (0, 1), compared.stderr
    results = json.loads(compared.stdout.splitlines()[-1])
    assert results["n_documents"] == 2
    read = "SELECT count(DISTINCT content_hash) FROM review_reading WHERE engine_version_id = ?"
    assert [house.rows(read, version) for version in (old, new)] == [[(2,)], [(2,)]]

    used = house.run("use_engine", "--project", "p", "--engine-version", str(old))
    assert used.returncode == 0, used.stderr
    made = house.run("create_token", "--user", "u", "--project", "p", "--role", "manager")
    token, port = made.stdout.split()[-1], free_port()
    serving = house.start("serve", "--port", str(port), "--workers", "1")
    house.wait_for(lambda: f"http://127.0.0.1:{port}/" in house.logs(), "the product answers")
    started = rollouts(port, token, engine_version=taught.spec.digest, shadow_share=1.0)
    assert started.status_code == 201, started.text
    house.send(beside=picture("read by both"))
    house.wait_until_finished(1)
    house.wait_for(
        lambda: house.rows("SELECT 1 FROM review_shadowread WHERE state = 'done'"), "both versions have read the page"
    )
    promoted = rollouts(port, token, f"{started.json()['id']}/promote/")
    is_allowed = compared.returncode == 0
    assert (promoted.status_code == 200, promoted.json().get("stage") == "canary") == (is_allowed, is_allowed)
    back = rollouts(port, token, f"{started.json()['id']}/roll-back/", reason="the test is over")
    assert back.json()["stage"] == "retired"
    serving.terminate()
    assert serving.wait(60) == 0


@pytest.fixture(scope="module")
def data(taught: Taught, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the training learned from, once more."""
    folder = tmp_path_factory.mktemp("prepared") / "data"
    prepare(Exported.open(taught.export), taught.spec, folder)
    return folder


def collated(vllm_venv: Path, weights: str, data: Path) -> Any:
    command = [str(vllm_venv / "bin" / "python"), "-m", "tests.vllm.collated", weights, str(data)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def test_the_loss_is_on_the_answer_alone_and_the_question_is_the_servers_token_by_token(
    taught: Taught, data: Path, vllm_venv: Path
) -> None:
    found = collated(vllm_venv, taught.spec.weights_folder, data)
    rows = found["rows"]
    assert [row["learned"].strip() for row in rows] == [f'{{"total":"{total}"}}</s>' for total in TOTALS]
    for row in rows:
        assert (row["is_one_piece"], row["labels_are_ids"], row["n_learned_padding"]) == (True, True, 0)
    assert rows[0]["n_asked"] == taught.ask(taught.spec.tied_name)["usage"]["prompt_tokens"]
    assert f"{found['longest']} tokens, the server takes {found['longest'] - 1}" in found["refused"]


def test_the_same_seed_and_data_give_the_same_adapter_byte_by_byte(
    taught: Taught, data: Path, vllm_venv: Path, tmp_path: Path
) -> None:
    plan = json.loads((taught.adapter / "training.json").read_text())["plan"]
    folders = {
        "weights_folder": taught.spec.weights_folder,
        "data_folder": str(data),
        "out_folder": str(tmp_path / "again"),
    }
    run_training(
        TrainingPlan.from_json(plan | folders),
        python=str(vllm_venv / "bin" / "python"),
        scratch=tmp_path,
        log=tmp_path / "log",
        tell=lambda event: None,
    )
    assert manifest_of(tmp_path / "again") == taught.spec.adapter_sha256


def test_an_adapter_that_was_tampered_with_is_refused(taught: Taught, tmp_path: Path) -> None:
    weights = taught.adapter / "adapter_model.safetensors"
    kept = weights.read_bytes()
    weights.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    try:
        served = taught.served.house.run("serve_model", "--engine-version", str(taught.version_id), "--port", "1")
        assert served.returncode == 1
        assert "adapter_model.safetensors has another checksum" in served.stderr
        with chat_client(taught.served.url) as client, pytest.raises(WeightsError, match="has another checksum"):
            load_adapter(client, taught.spec, started_for=taught.served.spec_of(taught.served.version_id))
    finally:
        weights.write_bytes(kept)


def test_a_training_that_is_cancelled_leaves_nothing(taught: Taught) -> None:
    house = taught.served.house
    before = house.rows("SELECT id FROM review_engineversion"), sorted(house.folder.glob("adapters/*"))
    process = house.start(
        *("finetune", "--engine-version", str(taught.served.version_id), "--snapshot", str(taught.export)),
        *("--steps", "100000", "--seed", "1"),
    )
    house.wait_for(lambda: "step 1 of 100000" in house.logs(), "the training runs")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 1
    assert "training_cancelled" in house.logs()
    after = house.rows("SELECT id FROM review_engineversion"), sorted(house.folder.glob("adapters/*"))
    assert after[0] == before[0]
    assert [path.name for path in after[1] if path not in before[1]] == [
        path.name for path in after[1] if "s1.tr" in path.name
    ]
    assert not [pid for pid in house.alive() if b"inference.training" in Path(f"/proc/{pid}/cmdline").read_bytes()]
