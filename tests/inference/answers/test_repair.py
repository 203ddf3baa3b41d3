import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.answers.fit import fit
from inference.answers.repair import Repaired, repair
from inference.answers.strict import DuplicateKeyError, NotStrictError
from tests.inference.answers.broken import SCHEMA, Broken, corpus, tokens, whole, written

CORPUS = corpus()


def values_of(text: str) -> dict[str, Any] | None:
    """What a text is repaired to, or None where that is refused."""
    try:
        repaired = repair(text, SCHEMA)
    except NotStrictError:
        return None
    fitted = fit(repaired.answer, SCHEMA)
    return None if fitted.misfits or fitted.not_text else fitted.values


def repairs_of(text: str) -> tuple[str, ...]:
    return repair(text, SCHEMA).repairs


def test_of_a_thousand_broken_answers_nearly_all_that_a_person_could_read_are_read() -> None:
    readable = [one for one in CORPUS if one.truth is not None and one.kind != "wrapped"]
    n_read = sum(values_of(one.text) == one.truth for one in readable)
    assert len(CORPUS) == 1000
    assert n_read / len(readable) >= 0.98


@pytest.mark.parametrize("seed", [0, 1])
def test_none_of_a_thousand_broken_answers_is_read_wrongly(seed: int) -> None:
    def is_wrong(one: Broken) -> bool:
        values = values_of(one.text)
        return values is not None and values != one.truth

    assert [one for one in corpus(seed) if one.kind != "wrapped" and is_wrong(one)] == []


WHOLE = {
    "seller": "ACME",
    "date": None,
    "total": "12.50",
    "pages": "1",
    "buyer": {"phone": "007"},
    "items": [{"text": "tea", "amount": "1.00"}, {"text": "milk", "amount": None}],
}
PLAIN = json.dumps(WHOLE)


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (f"```json\n{PLAIN}\n```", ("unfenced",)),
        (f"Here it is: {PLAIN}\nBye.", ("prose_removed",)),
        (f"<think>{{}}</think>{PLAIN}", ("thought_removed",)),
        (f"{PLAIN}<|im_end|>", ("end_token_removed",)),
        (json.dumps(PLAIN), ("unquoted",)),
        (PLAIN.replace("}]", ",}]"), ("commas_removed",)),
        (PLAIN.replace('"12.50", ', '"12.50" '), ("commas_added",)),
        (PLAIN[:-1], ("brackets_added",)),
        (PLAIN[1:], ("brackets_added",)),
        (PLAIN[:-3], ("brackets_added",)),
        (PLAIN.replace("null", "None"), ("literals_mended",)),
        (PLAIN.replace('"12.50"', "12.50,"), None),
        (PLAIN.replace('"007"', "007"), ("quotes_added",)),
        (PLAIN.replace('"', "'"), ("quotes_straightened",)),
        (PLAIN.replace(", ", "，").replace(": ", "："), ("marks_narrowed",)),
        (PLAIN.replace('"12.50", ', '"12.50", // as printed\n'), ("comments_removed",)),
        (PLAIN.replace("12.50", "12\\.50"), ("escapes_mended",)),
    ],
)
def test_a_repair_has_a_name(text: str, repairs: tuple[str, ...] | None) -> None:
    if repairs is None:
        assert values_of(text) is None
    else:
        assert repair(text, SCHEMA) == Repaired(WHOLE, repairs)


@pytest.mark.parametrize(
    ("written_as", "value"),
    [
        ('"The "Best" Shop"', 'The "Best" Shop'),
        ('"12" pipe"', '12" pipe'),
        ('"two\nlines"', "two\nlines"),
        ("'Joe's'", "Joe's"),
        ("“«Zum Hirschen»”", "«Zum Hirschen»"),
        ('"\\ud83c\\udf75 tea"', "🍵 tea"),
        ('"A\\u0026B"', "A&B"),
        ("1,234.56", "1,234.56"),
        ("00123", "00123"),
        ("2026-11-29", "2026-11-29"),
        ("null & void", "null & void"),
    ],
)
def test_a_value_keeps_each_of_its_characters(written_as: str, value: str) -> None:
    text = PLAIN.replace('"ACME"', written_as).replace("}]}", ",}]}")
    assert values_of(text) == {**WHOLE, "seller": value}


@pytest.mark.parametrize(
    "written_as",
    [
        "",
        "NaN",
        "undefined",
        "true",
        "...",
        "…",
        '"ACME',
        'ACME"',
        '"ACME""',
        '"A", "B"',
        "{}",
        "[]",
        '"\\ud83c"',
        '"\\',
    ],
)
def test_a_value_that_nobody_can_be_sure_of_is_refused(written_as: str) -> None:
    assert values_of(PLAIN.replace('"ACME"', written_as).replace("}]}", ",}]}")) is None


@pytest.mark.parametrize(
    "text",
    [
        PLAIN + PLAIN.replace("12.50", "12.60"),
        PLAIN[:-1] + "}, " + '"total": "12.60"}',
        PLAIN.replace("]}", ", ...]}"),
        PLAIN.replace("]}", ",\n// and 12 more rows\n]}"),
        PLAIN[:-3].replace(', {"text": "milk", "amount": null', ","),
        PLAIN.replace("[", ""),
        PLAIN.replace("[", "").replace("]", ""),
        PLAIN.replace('"date": null', '"date":'),
        PLAIN.replace('"milk", "amount": null}]}', '"milk"'),
        PLAIN.replace('"milk", "amount": null}]}', '"milk", "am'),
        "{" * 5000 + PLAIN[1:-1],
        '{"items": [{',
        '{"items": [{}, {',
        '{"items": [{]}',
        "[1, 2",
        "I cannot read this.",
    ],
)
def test_what_may_be_lost_or_left_out_is_refused(text: str) -> None:
    values = values_of(text)
    assert values is None or values == WHOLE


def test_a_name_that_stands_twice_is_refused_in_broken_text_too() -> None:
    with pytest.raises(DuplicateKeyError):
        repair(PLAIN[:-1] + ', "total": "12.60",}', SCHEMA)


def test_a_missing_bracket_is_put_where_the_names_say() -> None:
    text = PLAIN.replace('"007"}', '"007"').replace('"1.00"}', '"1.00"')
    assert repair(text, SCHEMA) == Repaired(WHOLE, ("brackets_added", "commas_added"))


def test_the_same_answer_said_twice_is_read_once() -> None:
    assert values_of(f"{PLAIN}\n```json\n{PLAIN}\n```") == WHOLE


def test_a_refusal_does_not_repeat_the_text() -> None:
    with pytest.raises(NotStrictError) as caught:
        repair('{"seller": secret: "x"}', SCHEMA)
    assert "secret" not in str(caught.value)


STRUCTURE = '{}[],:"'


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 3), st.booleans())
def test_no_value_changes_whatever_structure_is_lost(seed: int, n_lost: int, is_cut: bool) -> None:
    rng = random.Random(seed)
    truth = whole(rng)
    parts = [part for token in tokens(written(truth, rng)) for part in _opened(token)]
    for _ in range(n_lost):
        places = [n for n, part in enumerate(parts) if part in STRUCTURE]
        parts[rng.choice(places)] = rng.choice(["", "", " ", "\n"])
    values = values_of("".join(parts[: rng.randrange(len(parts))] if is_cut else parts))
    if is_cut and values is not None:
        # That rows are missing behind a whole row cannot be seen: there `finish_reason` must say it.
        truth["items"] = truth["items"][: len(values["items"])]
    assert values in (None, truth)


def _opened(token: str) -> list[str]:
    return ['"', token[1:-1], '"'] if token.startswith('"') else [token]


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text(max_size=20))
def test_any_text_in_a_value_survives_prose_around_it(value: str, prose: str) -> None:
    truth = {**WHOLE, "seller": value if value.strip() else None}
    assert values_of(f"{prose} {json.dumps(truth)} ok") in (None, truth)


@given(st.text(alphabet="{}[],:\"'\\ \nnulseller“”", max_size=60))
def test_nothing_makes_it_fail_in_another_way(text: str) -> None:
    values_of(text)
