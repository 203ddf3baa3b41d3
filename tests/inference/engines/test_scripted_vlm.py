"""A language model that answers from a script: values, evidence, failures of every kind, counted like the words'."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inference.engines.scripted import ANSWERS_VARIABLE, ScriptedEngine
from inference.engines.scripted_vlm import ScriptedVlmEngine, build
from inference.errors import AnswerError, EngineError, EngineUnavailableError
from inference.imaging.hashing import content_hash
from inference.registry import build_engine
from inference.types import BBox, PageImage, PageRequest, Word, parse_document_type
from tests import factories
from tests.review.vlm import SCRIPTED

WORDS = (Word("TOTAL 9.00", BBox(0.1, 0.2, 0.3, 0.4), 0.95),)
REQUEST = PageRequest(parse_document_type(factories.SCHEMA), factories.SCHEMA, words=WORDS)


def page(shade: int = 0) -> PageImage:
    return PageImage(np.full((4, 6, 3), shade, np.uint8))


def engine(default: dict[str, Any] | None = None, **pages: dict[str, Any]) -> ScriptedVlmEngine:
    script: dict[str, Any] = {"pages": pages}
    return ScriptedVlmEngine(SCRIPTED, script if default is None else script | {"default": {"answer": default}})


def test_an_answer_comes_with_the_words_of_the_request_and_its_raw_text() -> None:
    evidence = {"/total": {"token_min": 0.9}}
    reading = engine({"values": {"total": "9.00"}, "evidence": evidence}).read_page(page(), REQUEST)
    assert (reading.width, reading.height, reading.words) == (6, 4, WORDS)
    assert reading.answer is not None
    assert (reading.answer.values, reading.answer.evidence) == ({"total": "9.00"}, evidence)
    assert [json.loads(raw.text) for raw in reading.answer.attempts] == [{"total": "9.00"}]
    assert not reading.answer.is_repaired


def test_a_page_has_an_answer_of_its_own() -> None:
    own = {content_hash(page(9)): {"answer": {"values": {"total": "1.00"}, "is_repaired": True}}}
    made = engine({"values": {}}, **own)
    answers = [made.read_page(page(shade), REQUEST).answer for shade in (8, 9)]
    assert [answer.values if answer else None for answer in answers] == [{}, {"total": "1.00"}]
    assert [answer.repairs if answer else None for answer in answers] == [(), ("fence",)]


@pytest.mark.parametrize("code", AnswerError.REASONS)
def test_a_scripted_failure_of_an_answer_brings_the_answer_along(code: str) -> None:
    with pytest.raises(AnswerError) as failure:
        engine({"values": {"total": "9"}, "fault": code}).read_page(page(), REQUEST)
    assert failure.value.code == code
    assert [raw.text for raw in failure.value.attempts] == ['{"total": "9"}']


def test_a_failure_may_pass() -> None:
    made = engine({"values": {}, "fault": "engine_unavailable", "times": 2})
    for _ in range(2):
        with pytest.raises(EngineUnavailableError):
            made.read_page(page(), REQUEST)
    assert made.read_page(page(), REQUEST).answer is not None


def test_without_an_answer_or_a_request_there_is_nothing_to_read() -> None:
    with pytest.raises(EngineError, match="no answer"):
        engine().read_page(page(), REQUEST)
    with pytest.raises(EngineError, match="told which fields"):
        engine({"values": {}}).read_page(page())


def test_many_pages_are_read_at_once_and_failures_stand_in_their_place() -> None:
    bad = {content_hash(page(1)): {"answer": {"values": {}, "fault": "answer_repeats"}}}
    read = engine({"values": {"total": "9.00"}}, **bad).read_pages([(page(shade), REQUEST) for shade in range(3)])
    assert [isinstance(one, AnswerError) for one in read] == [False, True, False]


@pytest.mark.parametrize(
    ("answer", "error"), [({"values": {}, "fault": "no such fault"}, ValueError), ({"valeus": {}}, TypeError)]
)
def test_a_script_that_says_nothing_known_is_refused(answer: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        engine(answer)


def test_one_script_serves_both_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answers.json"
    row = ["TOTAL", 0.1, 0.2, 0.3, 0.4, 0.95]
    script = {
        "default": {"words": [row], "answer": {"values": {"total": "9.00"}, "fault": "engine_failed", "times": 1}}
    }
    path.write_text(json.dumps(script))
    monkeypatch.setenv(ANSWERS_VARIABLE, str(path))
    assert [word.text for word in ScriptedEngine().read_page(page()).words] == ["TOTAL"]
    with pytest.raises(EngineError):
        build(SCRIPTED).read_page(page(), REQUEST)
    # Counted across processes: another engine goes on counting.
    answer = build(SCRIPTED).read_page(page(), REQUEST).answer
    assert answer is not None
    assert answer.values == {"total": "9.00"}


def test_the_registry_tells_the_two_apart_by_the_specification(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text("{}")
    monkeypatch.setenv(ANSWERS_VARIABLE, str(path))
    assert isinstance(build_engine("scripted"), ScriptedEngine)
    model = build_engine("scripted", SCRIPTED.as_json())
    assert isinstance(model, ScriptedVlmEngine)
    assert (model.name, model.version) == ("scripted", SCRIPTED.as_json())
