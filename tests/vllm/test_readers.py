"""The trainers that need torch load what is written for them, by their own code, up to the tokens a model learns."""

import json
from pathlib import Path
from typing import Any

import pytest

from review.models import Snapshot
from tests.conftest import Cast
from tests.review.snapshots import add_reviewed, taken, unpacked
from tests.vllm.trainers_python import ran

COMPANY = "山东省书店 «r»"
ANSWERS = [
    {"company": COMPANY, "date": "2018-12-25", "total": "9.10"},
    {"company": "BOOK right", "date": "2018-12-25", "total": "9.00"},
]
READ = {"company": "BOOK r", "date": "2018-12-25", "total": "9.00"}


@pytest.fixture
def snapshot(cast: Cast) -> Snapshot:
    """One receipt that was read wrong twice, and one that was read right."""
    add_reviewed(
        cast.document_type, "r", verdicts={"/company": ("corrected", COMPANY), "/total": ("corrected", "9.10")}
    )
    add_reviewed(cast.document_type, "right")
    return taken(cast.project)


@pytest.fixture(scope="session")
def readers(vllm_venv: Path) -> Path:
    """The folder with LLaMA-Factory and ms-swift, whose pins go with no other package's."""
    folder = vllm_venv / "readers"
    if not folder.is_dir():
        pytest.skip(f"no readers in {folder}: tests/vllm/install.sh puts them there")
    return folder


def answer(text: str) -> Any:
    """What a model learns to say, without the end that its template adds."""
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def test_trl_learns_from_the_conversations_and_from_the_preferences(
    snapshot: Snapshot, vllm_venv: Path, tiny_with_adapter: Path, tmp_path: Path
) -> None:
    folders = [unpacked(snapshot, name, tmp_path) for name in ("trl", "preference")]
    found = ran(vllm_venv, tmp_path, "read_by_trl", tiny_with_adapter, *folders, tmp_path)
    sft, dpo = found["sft"], found["dpo"]
    assert sft["n_pictures"] == 2
    assert min(sft["n_picture_tokens"]) > 0
    for said in ANSWERS:
        # Of messages TRL teaches the question too, so what is looked for is in what is learned.
        assert sum(json.dumps(said, ensure_ascii=False, separators=(",", ":")) in text for text in sft["learned"]) == 1
    assert sft["loss"] > 0
    assert [answer(text) for text in dpo["learned"]] == [ANSWERS[0], READ], "chosen, then rejected"
    assert dpo["n_pictures"] == 2
    assert dpo["loss"] > 0


def test_llamafactory_reads_the_conversations_and_the_preferences(
    snapshot: Snapshot, vllm_venv: Path, readers: Path, tiny_with_adapter: Path, tmp_path: Path
) -> None:
    folder = unpacked(snapshot, "llamafactory", tmp_path)
    paths = {"PYTHONPATH": str(readers), "DISABLE_VERSION_CHECK": "1"}
    found = ran(vllm_venv, tmp_path, "read_by_llamafactory", tiny_with_adapter, folder, tmp_path, **paths)
    assert [[answer(text) for text in row["learned"]] for row in found["sft"]] == [[said] for said in ANSWERS]
    assert [[answer(text) for text in row["learned"]] for row in found["rm"]] == [[ANSWERS[0], READ]]
    for row in (*found["sft"], *found["rm"]):
        assert row["n_picture_tokens"] > 0
        assert [Path(image).is_relative_to(folder) for image in row["images"]] == [True]
        assert [Path(image).is_file() for image in row["images"]] == [True]


def test_swift_reads_the_conversations_and_the_preferences(
    snapshot: Snapshot, vllm_venv: Path, readers: Path, tiny: Path, tmp_path: Path
) -> None:
    folder = unpacked(snapshot, "swift", tmp_path)
    paths = {"PYTHONPATH": str(readers), "ROOT_IMAGE_DIR": str(folder)}
    found = ran(vllm_venv, tmp_path, "read_by_swift", tiny, folder, **paths)
    assert [[answer(text) for text in row["learned"]] for row in found["train"]] == [[said] for said in ANSWERS]
    assert [[answer(text) for text in row["learned"]] for row in found["rlhf"]] == [[ANSWERS[0], READ]]
    assert min(row["n_patches"] for row in (*found["train"], *found["rlhf"])) > 0
