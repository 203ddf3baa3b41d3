"""`python -m tests.slips.record URL WEIGHTS`: have slips read by a reader behind a real server, and errors scored.

WEIGHTS is the folder that tests.slips.train_reader wrote and that the server serves as "tiny-ocr", without a key.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from inference import registry
from inference.engine import Engine
from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.errors import AnswerError
from inference.fields.normalise import comparable
from inference.serving.chat import chat_client
from inference.training.answers import training_answer
from inference.types import VlmSpec
from tests.bench.planting import Truth
from tests.replay.exchanges import Exchange
from tests.replay.server import CHAT
from tests.slips.asking import SCHEMA, asked, reader_version
from tests.slips.drawing import draw, make_slip
from tests.slips.planting import SPEC, planted, printed
from tests.slips.recordings import STORED, WEAR, Planted, Recorded, RecordedSlip, store
from tests.slips.scoring import AskingTransport, largest_difference, scored

NUMBERS = {"ordinary": range(1, 81), "worn": range(1001, 1081)}
SEED = 20261130


class Recorder:
    """Reads slips and scores errors in them, one after the other."""

    def __init__(self, url: str, spec: VlmSpec, words_by: Engine) -> None:
        self._spec = spec
        self._words_by = words_by
        self._transport = AskingTransport(spec.tied_name)
        self._client = chat_client(url, transport=self._transport)
        self._plain = httpx.Client(base_url=url, trust_env=False)
        self._engine = VlmEngine(spec, ServedModel(spec, self._client))
        self.differences: list[float] = []

    def read(self, group: str, number: int) -> tuple[RecordedSlip, bytes]:
        """Return a slip as it was read, and the last request that was sent for it."""
        slip = make_slip(number, WEAR[group])
        page = draw(slip)
        words = self._words_by.read_page(page)
        self._transport.exchanges.clear()
        try:
            self._engine.read_page(page, asked(words.words))
        except AnswerError as failure:
            sys.stdout.write(f"{group} {number}: {failure.code}\n")
        exchanges = tuple(one for one in self._transport.exchanges if one.path == CHAT)
        return RecordedSlip(group, Truth(str(number), words, printed(slip).values), exchanges), self._transport.asked

    def score(self, one: RecordedSlip, request: bytes, others: list[Truth]) -> tuple[Planted, ...]:
        """Have errors in the fields that were read rightly scored, and the answer as it was given for comparison."""
        answered = one.exchanges[-1]
        text = answered.response["choices"][0]["message"]["content"]
        values = said(answered)
        own = scored(self._plain, request, answered, text, self._spec.decoding.top_logprobs)
        self.differences.append(largest_difference(own, answered))
        right = [path for path, value in one.truth.values.items() if is_right(path, values.get(path[1:]), value)]
        found = []
        for kind, path, wrong in planted(one.slip, right, others, SEED):
            changed = training_answer({**values, path[1:]: wrong}, SCHEMA)
            exchange = scored(self._plain, request, answered, changed, self._spec.decoding.top_logprobs)
            found.append(Planted(kind, path, exchange))
        return tuple(found)


def said(exchange: Exchange) -> Mapping[str, str]:
    """Return the values of an answer; nothing where it is no JSON object."""
    try:
        values = json.loads(exchange.response["choices"][0]["message"]["content"])
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def is_right(path: str, value: str | None, truth: str) -> bool:
    """Whether a value counts as what is printed."""
    spec = SPEC.spec_of(path)
    assert spec is not None
    return value is not None and comparable(value, spec.value_type, spec.locale) == comparable(
        truth, spec.value_type, spec.locale
    )


def main(url: str, weights: Path) -> None:
    """Record every slip."""
    recorder = Recorder(url, reader_version(weights), registry.build_engine("rapidocr"))
    others = [printed(make_slip(number, WEAR["ordinary"])) for number in NUMBERS["ordinary"]]
    slips = []
    for group, numbers in NUMBERS.items():
        for number in numbers:
            one, request = recorder.read(group, number)
            bad = recorder.score(one, request, others) if group == "ordinary" and said(one.exchanges[-1]) else ()
            slips.append(RecordedSlip(group, one.truth, one.exchanges, bad))
            sys.stdout.write(f"{group} {number}: {dict(said(one.exchanges[-1]))}, {len(bad)} errors scored\n")
            sys.stdout.flush()
    figures = {"largest_difference": max(recorder.differences), "own_answers_scored": len(recorder.differences)}
    store(Recorded(reader_version(weights), tuple(slips), figures))
    sys.stdout.write(f"{STORED.name}: {STORED.stat().st_size} bytes, {figures}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
