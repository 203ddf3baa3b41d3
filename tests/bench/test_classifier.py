"""The bench of the classifier: receipts by trade, files of further types, and what was asked of which fold."""

import json
from pathlib import Path

import pytest

from tests.bench.classifier import Answer, Sample, asked, asked_of_strangers, receipts, row
from tests.inference.fields.pages import reading


def samples(kind: str, words: str, n: int = 30) -> list[Sample]:
    return [
        Sample(f"{kind}-{number}", f"{kind}-{number % 6}", kind, reading((f"{words} {number}", 100, 100)))
        for number in range(n)
    ]


def test_a_receipt_has_the_trade_that_its_company_names(tmp_path: Path) -> None:
    for part in ("key", "readings"):
        (tmp_path / "train" / part).mkdir(parents=True)
    line = {"box": [[-3, 10], [50, 10], [50, 20], [0, 20]], "text": "TOTAL", "score": 0.9}
    for name, company in (("000", "Lim Hardware"), ("001", "Somebody")):
        (tmp_path / "train" / "key" / f"{name}.json").write_text(json.dumps({"company": company}))
        (tmp_path / "train" / "readings" / f"{name}.json").write_text(json.dumps({"size": [100, 200], "lines": [line]}))
    first, second = receipts(tmp_path)
    assert (first.kind, first.group, second.kind) == ("hardware", "LIM HARDWARE", "")
    assert first.reading.words[0].bbox == pytest.approx((0.0, 0.05, 0.5, 0.1))


def test_every_page_is_asked_once_and_of_what_had_not_learned_it() -> None:
    every = [*samples("receipt", "CASH RECEIPT TOTAL CHANGE"), *samples("manual", "the package and its options")]
    answers = asked(every, lambda one: one.name)
    assert len(answers) == len(every)
    assert all(one.is_right for one in answers)
    # Labels without sense: known by heart, and right no more than half of the time where that does not help.
    mixed = [Sample(one.name, one.group, "ab"[number % 2], one.reading) for number, one in enumerate(every[:30])]
    assert sum(one.is_right for one in asked(mixed, lambda one: one.name)) < 25


def test_what_is_of_no_type_is_never_right() -> None:
    every = [*samples("receipt", "CASH RECEIPT TOTAL CHANGE"), *samples("manual", "the package and its options")]
    answers = asked_of_strangers(every, samples("poem", "waves of wintry seas", 5))
    assert [one.is_right for one in answers] == [False] * 5
    assert not any(one.is_sure for one in answers)


def test_wrongly_decided_is_what_was_surely_called_something_else() -> None:
    answers = [
        Answer(True, True, True),
        Answer(False, True, True),
        Answer(True, False, True),
        Answer(False, False, False),
    ]
    what, n_types, n, right, _bounds, decided, right_where_decided, wrongly = row("x", 2, answers)
    assert (what, n_types, n, right) == ("x", 2, 4, 0.5)
    assert (decided, right_where_decided, wrongly) == (0.5, 0.5, 0.25)
