"""What a reader of slips answered on a real server, and what that server thought of wrong answers: kept in one file.

Every slip has the words that the OCR reader found on it, the exchange in which it was read, and exchanges of the same
shape whose answers were given to the server to be scored: those have the id "scored" and an error of a known kind.
"""

import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inference.types import VlmSpec
from tests.bench.planting import Truth
from tests.bench.stored_readings import truth_as_json, truth_from_json
from tests.replay.exchanges import Exchange
from tests.replay.server import CHAT
from tests.slips.drawing import Slip, make_slip

STORED = Path(__file__).with_name("recorded.json.xz")
WEAR = {"ordinary": (0.0, 0.5), "worn": (0.6, 1.1)}
"""How far the slips of each group are worn; the reader was trained on what is worn up to 1."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A wrong answer about a slip, scored by the server: what is wrong in it, and where."""

    kind: str
    path: str
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class RecordedSlip:
    """A slip of a group, as the OCR reader and the model read it; `truth` holds the words and what is printed."""

    group: str
    truth: Truth
    exchanges: tuple[Exchange, ...]
    planted: tuple[Planted, ...] = ()

    @property
    def slip(self) -> Slip:
        """The slip itself, to be drawn again."""
        return make_slip(int(self.truth.name), WEAR[self.group])


@dataclass(frozen=True, slots=True)
class Recorded:
    """All slips, and the version that read them. `figures` say how they came about."""

    spec: VlmSpec
    slips: tuple[RecordedSlip, ...]
    figures: dict[str, Any] = field(default_factory=dict)


def store(recorded: Recorded, path: Path = STORED) -> None:
    """Write the file; each request is kept as the picture's checksum and one question for all."""
    requests = [exchange.request for one in recorded.slips for exchange in one.exchanges]
    question, _ = _split(requests[0])
    data = {
        "spec": recorded.spec.as_json(),
        "figures": recorded.figures,
        "question": question,
        "slips": [
            {
                "group": one.group,
                **truth_as_json(one.truth),
                "exchanges": [_as_json(exchange, question) for exchange in one.exchanges],
                "planted": [[bad.kind, bad.path, _as_json(bad.exchange, question)] for bad in one.planted],
            }
            for one in recorded.slips
        ],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def load(path: Path = STORED) -> Recorded:
    """Return what the file holds."""
    data = json.loads(lzma.decompress(path.read_bytes()))

    def exchange(item: Sequence[Any]) -> Exchange:
        picture, more, status, response = item
        return Exchange(CHAT, _joined(data["question"], picture) | more, status, response)

    slips = tuple(
        RecordedSlip(
            one["group"],
            truth_from_json(one),
            tuple(map(exchange, one["exchanges"])),
            tuple(Planted(kind, path, exchange(item)) for kind, path, item in one["planted"]),
        )
        for one in data["slips"]
    )
    return Recorded(VlmSpec.from_json(data["spec"]), slips, data["figures"])


def _as_json(exchange: Exchange, question: dict[str, Any]) -> list[Any]:
    own, picture = _split(exchange.request)
    more = {name: value for name, value in own.items() if question.get(name) != value}
    return [picture, more, exchange.status, exchange.response]


def _split(request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the request without its picture's checksum, and that."""
    text = json.dumps(request, ensure_ascii=False)
    head, mark, rest = text.partition("; sha256 ")
    return json.loads(f"{head}{mark}{rest[64:]}"), rest[:64]


def _joined(question: dict[str, Any], picture: str) -> dict[str, Any]:
    text = json.dumps(question, ensure_ascii=False).replace("; sha256 ", f"; sha256 {picture}", 1)
    joined: dict[str, Any] = json.loads(text)
    return joined
