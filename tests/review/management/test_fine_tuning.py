import zipfile
from pathlib import Path

import httpx
import pytest

from inference.errors import VersionNotServedError
from inference.serving.adapters import with_adapter
from inference.serving.chat import chat_client
from inference.serving.vllm_command import DEFAULT_FLAGS
from inference.training.errors import TrainingError
from review.management import fine_tuning
from review.management.fine_tuning import load_beside, unpacked
from tests.inference.serving.adapter_server import Server
from tests.inference.serving.asking import a_spec

BASE = a_spec(server_flags={**DEFAULT_FLAGS, "enable-lora": True, "max-lora-rank": 16})


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "tuned"
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    return folder


def put_behind(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have this server answer at every address; return the addresses as they are asked."""
    asked: list[str] = []

    def client(url: str, api_key: str = "") -> httpx.Client:
        asked.append(url)
        return chat_client(url, api_key, transport=httpx.MockTransport(server))

    monkeypatch.setattr(fine_tuning, "chat_client", client)
    return asked


def test_the_server_of_the_old_version_is_asked_to_load_the_new_one(
    adapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://elsewhere")
    monkeypatch.setenv("STET_VLLM_URLS", f"{BASE.digest[:8]}=http://the-old-one")
    server = Server(BASE.tied_name)
    asked = put_behind(server, monkeypatch)
    assert load_beside(BASE, with_adapter(BASE, adapter, rank=16))
    assert (asked, len(server.asked)) == (["http://the-old-one"], 1)


def test_a_server_without_room_is_not_asked_at_all(adapter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://vllm")
    asked = put_behind(Server(BASE.tied_name), monkeypatch)
    assert not load_beside(BASE, with_adapter(BASE, adapter, rank=64))
    assert asked == []


def test_a_server_that_was_started_for_another_version_is_told(adapter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://vllm")
    put_behind(Server("stet-0000000000000000"), monkeypatch)
    with pytest.raises(VersionNotServedError):
        load_beside(BASE, with_adapter(BASE, adapter, rank=16))


def test_a_folder_is_used_as_it_is_and_a_zip_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("train/metadata.jsonl", "line")
    folder = unpacked(tmp_path / "export.zip", tmp_path / "work")
    assert (folder / "train" / "metadata.jsonl").read_text() == "line"
    assert unpacked(folder, tmp_path / "work") == folder


def test_a_zip_writes_nothing_outside_of_its_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("../../outside", "x")
    unpacked(tmp_path / "export.zip", tmp_path / "a" / "work")
    assert [path.name for path in tmp_path.rglob("outside")] == ["outside"]
    assert (tmp_path / "a" / "work" / "export" / "outside").is_file()


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(b"no zip")
    with pytest.raises(TrainingError, match="is neither a folder nor a zip file"):
        unpacked(tmp_path / "export.zip", tmp_path)
