"""An installation whose projects are read by a tiny model behind a real vLLM server."""

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from inference.types import VlmSpec
from tests.faults.house import House, free_port

PATIENCE_SECONDS = 900.0
"""A start takes a minute on an idle machine with two cores."""

# What a CPU and a model of 2 MB ask for, instead of a GPU's sizes; the rest is as in production.
ON_CPU: dict[str, Any] = {
    "vllm_version": "0.32.0",
    "words_by": "scripted",
    "imaging": {"max_pixels": 1_000_000},
    "decoding": {"max_tokens": 1024},
    "server_flags": {"max-model-len": 4096, "max-num-seqs": 4, "enforce-eager": True},
    "server_environment": {
        "VLLM_TARGET_DEVICE": "cpu",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "TORCH_COMPILE_DISABLE": "1",
        "OMP_NUM_THREADS": "1",
    },
}


@dataclass
class ServedHouse:
    """A house, its engine version, and where that one is (to be) served."""

    house: House
    version_id: int
    port: int

    @classmethod
    def declare(
        cls,
        folder: Path,
        weights: Path,
        venv: Path,
        *,
        flags: Mapping[str, Any] = {},
        environment: Mapping[str, str] = {},
        adapter: str = "",
    ) -> "ServedHouse":
        """Lay a house out and declare the weights as a version of it; flags and environment are added to ON_CPU's."""
        folder.mkdir(exist_ok=True)
        port = free_port()
        house = House(folder, patience_seconds=PATIENCE_SECONDS)
        house.settings = {"STET_VLLM_URL": f"http://127.0.0.1:{port}", "STET_VLLM_VENV": str(venv)}
        house.lay_out()
        given = ON_CPU | {
            "server_flags": {**ON_CPU["server_flags"], **flags},
            "server_environment": {**ON_CPU["server_environment"], **environment},
            "adapter": adapter,
        }
        (folder / "version.json").write_text(json.dumps(given))
        added = house.run("add_engine_version", str(folder / "version.json"), "--weights", str(weights))
        assert added.returncode == 0, added.stderr
        return cls(house, int(added.stdout.split()[-1]), port)

    @property
    def url(self) -> str:
        return self.house.settings["STET_VLLM_URL"]

    def spec_of(self, version_id: int) -> VlmSpec:
        """What a version of this installation was declared as."""
        [row] = self.house.rows("SELECT spec FROM review_engineversion WHERE id = ?", version_id)
        return VlmSpec.from_json(json.loads(row[0]))

    def serve(self) -> subprocess.Popen[str]:
        """Start `serve_model`, and return before it is ready."""
        return self.house.start("serve_model", "--engine-version", str(self.version_id))

    def wait_until_ready(self, process: subprocess.Popen[str]) -> None:
        """Wait until the command says that it can answer."""
        self.house.wait_for(
            lambda: " is ready after " in self.house.logs() or process.poll() is not None, "the server is ready"
        )
        assert process.poll() is None, self.house.logs()

    def server_pid(self) -> int:
        """The process of the server itself."""
        return next(pid for pid in self.house.alive() if b"api_server" in Path(f"/proc/{pid}/cmdline").read_bytes())

    def is_answering(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=5).is_success
        except httpx.TransportError:
            return False

    def wait_until_answering(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.is_answering():
            assert time.monotonic() < until, self.house.logs()
            time.sleep(0.5)

    def probe(self) -> dict[str, Any]:
        """Run the self-test and return its report."""
        probed = self.house.run("probe_engine", "--engine-version", str(self.version_id), "--json")
        assert probed.stdout, probed.stderr
        report: dict[str, Any] = json.loads(probed.stdout.splitlines()[-1])
        assert (probed.returncode == 0) is report["is_passed"]
        return report


def found(report: dict[str, Any], name: str) -> dict[str, Any]:
    """What a check of a report found, with its verdict."""
    check = next(check for check in report["checks"] if check["name"] == name)
    return {"is_passed": check["is_passed"], **check["found"]}
