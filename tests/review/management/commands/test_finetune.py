"""The whole command with a stand-in for the Python that trains; tests/vllm has it with the real one."""

import hashlib
import io
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from inference.serving.declaration import completed
from inference.types import VlmSpec
from review.actions.engines import declare_engine_version
from review.models import AuditEntry, EngineVersion, RegressionItem, RegressionSet, SelfTest
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.inference.training.exports import write_export
from tests.review.snapshots import add_reviewed, taken

# Writes an adapter, and into it what it was given.
STAND_IN = """
import json, pathlib, sys
plan = json.loads(pathlib.Path(sys.argv[3]).read_text())
lines = (pathlib.Path(plan["data_folder"]) / "train" / "metadata.jsonl").read_text().splitlines()
if plan["seed"] == 13:
    print(json.dumps({"event": "failed", "code": "training_out_of_memory", "message": "lower --rank"}))
    sys.exit(1)
print(json.dumps({"event": "step", "step": 1, "steps": plan["steps"], "loss": 2.5}), flush=True)
out = pathlib.Path(plan["out_folder"])
out.mkdir()
(out / "adapter_model.safetensors").write_bytes(b"weights")
(out / "adapter_config.json").write_text("{}")
(out / "training.json").write_text(json.dumps({"plan": plan, "lines": lines}))
told = {"plan": plan, "n_train": len(lines), "n_validation": 0, "losses": [2.5, 1.5], "libraries": {},
        "validation_loss": {"before": None, "after": None}}
print(json.dumps({"event": "done", **told}))
"""


@pytest.fixture(autouse=True)
def _folders(settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    settings.DATA_DIR = tmp_path / "var"


@pytest.fixture
def python(tmp_path: Path) -> str:
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path / "stand_in.py"} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return str(python)


@pytest.fixture
def version(tmp_path: Path, db: None) -> EngineVersion:
    folder = tmp_path / "tiny-ocr"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"numbers")
    return declare_engine_version(actor=SYSTEM, spec=completed({"vllm_version": "0.32.0"}, folder))


def finetune(version: EngineVersion, snapshot: object, python: str, *options: object) -> tuple[str, str]:
    """Return what it prints and what it tells."""
    stdout, stderr = io.StringIO(), io.StringIO()
    given = ("--engine-version", str(version.pk), "--snapshot", str(snapshot), "--python", python)
    call_command("finetune", *given, *map(str, options), stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


def training_of(spec: VlmSpec) -> Any:
    """What the stand-in was given."""
    return json.loads((Path(spec.adapter_folder) / "training.json").read_text())


def test_a_snapshot_becomes_a_version_of_its_own(cast: Cast, version: EngineVersion, python: str) -> None:
    add_reviewed(cast.document_type, "a")
    add_reviewed(cast.document_type, "b")
    snapshot = taken(cast.project)
    printed, told = finetune(version, snapshot.pk, python)
    made = EngineVersion.objects.get(pk=int(printed.split()[-1]))
    spec = VlmSpec.from_json(made.spec)
    assert made.pk != version.pk
    assert set(spec.adapter_sha256) == {"adapter_model.safetensors", "adapter_config.json", "training.json"}
    assert spec.adapter_sha256["adapter_model.safetensors"] == hashlib.sha256(b"weights").hexdigest()
    assert "2 pages to train on, 0 to check on." in told
    assert "step 1 of 1: loss 2.5000" in told
    entry = AuditEntry.objects.get(action="engine_version.fine_tuned")
    assert (entry.object_id, entry.detail["base"]) == (str(made.pk), version.digest)
    assert entry.detail["snapshot"] == snapshot.pk
    assert entry.detail["snapshot_sha256"] == snapshot.sha256
    assert (entry.detail["first_loss"], entry.detail["last_loss"]) == (2.5, 1.5)


def test_it_is_taught_what_people_settled_in_the_versions_own_prompt(
    cast: Cast, version: EngineVersion, python: str
) -> None:
    add_reviewed(cast.document_type, "a")
    printed, _ = finetune(version, taken(cast.project).pk, python)
    spec = VlmSpec.from_json(EngineVersion.objects.get(pk=int(printed)).spec)
    [line] = map(json.loads, training_of(spec)["lines"])
    asked, said = line["messages"]
    answer = json.loads(said["content"][0]["text"])
    assert (answer["company"], answer["total"]) == ("BOOK a", "9.00")
    texts = "".join(part.get("text", "") for part in asked["content"])
    assert "JSON Schema" in texts, "v1, which the version was declared with, and not v2, in which it was exported"


def test_the_same_training_again_needs_another_folder_and_gives_the_same_version(
    version: EngineVersion, python: str, tmp_path: Path
) -> None:
    export = write_export(tmp_path / "export")
    first, _ = finetune(version, export, python)
    with pytest.raises(CommandError, match=r"is there already\. Remove it, or name another folder by --out"):
        finetune(version, export, python)
    other, _ = finetune(version, export, python, "--out", tmp_path / "other")
    assert (tmp_path / "other" / "adapter_model.safetensors").is_file()
    assert first != other, "another folder is another version: its server is started otherwise"


def test_options_become_the_plan(version: EngineVersion, python: str, tmp_path: Path) -> None:
    options = {"steps": 7, "rank": 32, "learning-rate": 0.001, "batch-size": 2, "gradient-accumulation": 4, "seed": 5}
    flat = [part for name, value in options.items() for part in (f"--{name}", value)]
    printed, _ = finetune(version, write_export(tmp_path / "export"), python, *flat, "--dropout", 0.1)
    spec = VlmSpec.from_json(EngineVersion.objects.get(pk=int(printed)).spec)
    plan = training_of(spec)["plan"]
    assert {name: plan[name.replace("-", "_")] for name in options} == options
    assert (plan["dropout"], plan["max_length"]) == (0.1, 8192)
    assert spec.server_flags["max-lora-rank"] == 32


def test_merged_weights_are_a_version_without_an_adapter(
    version: EngineVersion, python: str, tmp_path: Path, settings: Settings
) -> None:
    printed, told = finetune(version, write_export(tmp_path / "export"), python, "--merge")
    made = VlmSpec.from_json(EngineVersion.objects.get(pk=int(printed)).spec)
    folder = Path(made.weights_folder)
    assert folder.is_relative_to(settings.DATA_DIR / "weights")
    plan = json.loads((folder / "training.json").read_text())["plan"]
    assert plan["is_merged"] is True
    assert made.weights_sha256["training.json"] == hashlib.sha256((folder / "training.json").read_bytes()).hexdigest()
    assert (made.adapter, made.adapter_folder, dict(made.adapter_sha256)) == ("", "", {})
    old = VlmSpec.from_json(version.spec)
    assert dict(made.server_flags) == dict(old.server_flags)
    assert f"serve_model --engine-version {printed.strip()}" in told


@pytest.mark.parametrize(("n", "steps"), [(1, 1), (8, 3), (9, 4)])
def test_without_steps_the_data_are_seen_three_times(
    version: EngineVersion, python: str, tmp_path: Path, n: int, steps: int
) -> None:
    export = write_export(tmp_path / "export", {"train": [{"total": f"{one}.00"} for one in range(n)]})
    printed, _ = finetune(version, export, python)
    assert training_of(VlmSpec.from_json(EngineVersion.objects.get(pk=int(printed)).spec))["plan"]["steps"] == steps


def test_without_a_server_it_is_registered_and_told_what_to_do(
    version: EngineVersion, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STET_VLLM_URL", raising=False)
    printed, told = finetune(version, write_export(tmp_path / "export"), python)
    new = printed.strip()
    assert "It needs other weights or flags than the server of the old version has" in told
    for command in ("serve_model --engine-version", "probe_engine --engine-version"):
        assert f"{command} {new}" in told
    assert f"evaluate --project P --set S --compare {version.pk} {new}" in told
    assert not SelfTest.objects.exists()


def test_a_server_that_is_away_is_no_reason_to_lose_the_training(
    version: EngineVersion, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://127.0.0.1:9")
    flags = {**version.spec["server_flags"], "enable-lora": True, "max-lora-rank": 16}
    able = declare_engine_version(actor=SYSTEM, spec=VlmSpec.from_json({**version.spec, "server_flags": flags}))
    printed, told = finetune(able, write_export(tmp_path / "export"), python)
    assert "Not tried out: the server cannot be reached" in told
    assert f"serve_model --engine-version {printed.strip()}" in told


def nothing_is_left(tmp_path: Path) -> bool:
    kept = [path.name for path in (tmp_path / "var" / "adapters").glob("*") if not path.name.endswith(".log")]
    return kept == [] and not AuditEntry.objects.filter(action="engine_version.fine_tuned").exists()


def test_a_training_that_fails_registers_nothing(version: EngineVersion, python: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="training_out_of_memory: lower --rank"):
        finetune(version, write_export(tmp_path / "export"), python, "--seed", 13)
    assert nothing_is_left(tmp_path)


def test_weights_that_are_not_the_versions_are_not_trained_on(
    version: EngineVersion, python: str, tmp_path: Path
) -> None:
    Path(version.spec["weights_folder"], "model.safetensors").write_bytes(b"other")
    with pytest.raises(CommandError, match=r"model\.safetensors has another checksum"):
        finetune(version, write_export(tmp_path / "export"), python)
    assert nothing_is_left(tmp_path)


def test_a_document_that_was_held_out_since_the_snapshot_is_not_learned_from(
    cast: Cast, version: EngineVersion, python: str, tmp_path: Path
) -> None:
    record = add_reviewed(cast.document_type, "a")
    add_reviewed(cast.document_type, "b")
    snapshot = taken(cast.project)
    held = RegressionSet.objects.create(project=cast.project, document_type=cast.document_type, name="later")
    RegressionItem.objects.create(
        regression_set=held,
        name="a",
        sha256=record.document.sha256,
        perceptual_hashes=[page.perceptual_hash for page in record.document.pages.all()],
        truth={},
    )
    with pytest.raises(CommandError, match=r"documents of the snapshot belong to a regression set by now"):
        finetune(version, snapshot.pk, python)
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [({"is_without_regression_sets": False}, "without regression sets"), ({"holding": "everything"}, "nobody settled")],
)
def test_a_snapshot_that_may_not_teach_is_refused(
    version: EngineVersion, python: str, tmp_path: Path, manifest: dict[str, Any], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        finetune(version, write_export(tmp_path / "export", manifest=manifest), python)
    assert nothing_is_left(tmp_path)


def test_a_file_that_is_no_zip_is_refused(version: EngineVersion, python: str, tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(b"not a zip file")
    with pytest.raises(CommandError, match="is neither a folder nor a zip file"):
        finetune(version, tmp_path / "export.zip", python)


@pytest.mark.parametrize(
    ("snapshot", "said"),
    [("99999", "There is no snapshot 99999"), ("/nowhere.zip", "There is no snapshot, folder or zip file")],
)
def test_a_snapshot_that_is_not_there_is_told(version: EngineVersion, python: str, snapshot: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        finetune(version, snapshot, python)


def test_a_plan_that_cannot_be_is_refused_by_name(version: EngineVersion, python: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="training_plan_invalid: rank: must be a whole number from 1 to 512"):
        finetune(version, write_export(tmp_path / "export"), python, "--rank", 0)


def test_a_python_that_is_not_there_is_told(version: EngineVersion, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no Python at /nowhere"):
        finetune(version, write_export(tmp_path / "export"), "/nowhere")


def test_an_ocr_engine_learns_nothing_so(db: None, python: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="only a declared vllm_server takes an adapter"):
        finetune(factories.make_engine_version(), write_export(tmp_path / "export"), python)
