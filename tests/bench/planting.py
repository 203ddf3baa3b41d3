"""Errors planted in true values: what a language model gets wrong, made on purpose so that it is known to be wrong."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inference.fields.normalise import TYPED, comparable, find_values, folded, normalise
from inference.types import FieldSpec, PageReading

TRIES = 40
MIN_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Truth:
    """A document's one page as the OCR reader read it, and what is printed in its fields (path to text as printed)."""

    name: str
    reading: PageReading
    values: Mapping[str, str]


def plant_wrong_digit(spec: FieldSpec, truth: Truth, others: Sequence[Truth], rng: random.Random) -> str | None:
    """Return the value with one digit changed; it is still a value of its type. None where it has no digit."""
    text = truth.values[spec.path]
    places = [at for at, character in enumerate(text) if character.isdecimal()]
    for _ in range(TRIES if places else 0):
        at = rng.choice(places)
        changed = text[:at] + rng.choice([digit for digit in "0123456789" if digit != text[at]]) + text[at + 1 :]
        if is_another_value(spec, changed, text):
            return changed
    return None


def plant_swapped_value(spec: FieldSpec, truth: Truth, others: Sequence[Truth], rng: random.Random) -> str | None:
    """Return another value that is printed on the page: of the same type; for running text, another field or line."""
    text = truth.values[spec.path]
    lines = [word.text for word in truth.reading.words]
    if spec.value_type in TYPED:
        found = [item.normalised.value for line in lines for item in find_values(line, spec.value_type, spec.locale)]
        wanted = [value for value in dict.fromkeys(found) if value is not None]
    else:
        wordy = [line for line in lines if sum(map(str.isalpha, line)) >= MIN_LETTERS]
        fields = [value for path, value in truth.values.items() if path != spec.path and " " in value]
        wanted = rng.choice([fields, wordy]) or fields
    return _one_of([value for value in wanted if _is_swap(spec, value, text)], rng)


def _is_swap(spec: FieldSpec, value: str, text: str) -> bool:
    """Say whether it is another value; a part of the true text would be cut short, not swapped."""
    return is_another_value(spec, value, text) and (spec.value_type in TYPED or folded(value) not in folded(text))


def plant_invented_value(spec: FieldSpec, truth: Truth, others: Sequence[Truth], rng: random.Random) -> str | None:
    """Return a plausible value that is not on the page: that of another document."""
    text = truth.values[spec.path]
    lines = [word.text for word in truth.reading.words]
    printed = {item.normalised.value for line in lines for item in find_values(line, spec.value_type, spec.locale)}
    whole = folded(" ".join(lines))
    wanted = [
        value
        for other in others
        if (value := other.values.get(spec.path))
        and is_another_value(spec, value, text)
        and comparable(value, spec.value_type, spec.locale) not in (printed if spec.value_type in TYPED else whole)
    ]
    return _one_of(wanted, rng)


def plant_truncated_value(spec: FieldSpec, truth: Truth, others: Sequence[Truth], rng: random.Random) -> str | None:
    """Return the value cut short: a few characters of a typed one, whole words of running text, at either end."""
    text = truth.values[spec.path]
    if spec.value_type in TYPED:
        cuts = [text[1:], text[2:], text[:-1], text[:-2], text[:-3]]
    else:
        words = text.split()
        cuts = [" ".join(words[:n]) for n in range((len(words) + 1) // 2, len(words))]
        cuts += [" ".join(words[n:]) for n in range(1, len(words) // 2)]
    return _one_of([cut for cut in cuts if is_another_value(spec, cut, text)], rng)


Plant = Callable[[FieldSpec, Truth, Sequence[Truth], random.Random], str | None]
KINDS: Mapping[str, Plant] = {
    "wrong digit": plant_wrong_digit,
    "swapped value": plant_swapped_value,
    "invented value": plant_invented_value,
    "truncated value": plant_truncated_value,
}


def is_another_value(spec: FieldSpec, text: str, truth: str) -> bool:
    """Say whether `text` is a value of the field's type that does not count as equal to the truth."""
    if normalise(text, spec.value_type, spec.locale).value is None:
        return False
    return comparable(text, spec.value_type, spec.locale) != comparable(truth, spec.value_type, spec.locale)


def _one_of(values: Sequence[str], rng: random.Random) -> str | None:
    return rng.choice(values) if values else None
