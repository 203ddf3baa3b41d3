"""Amounts written in Chinese numerals, as on invoices and cheques: 壹万贰仟叁佰元整, 叁拾元伍角贰分."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from inference.fields.normalise.numerals import CHARACTERS, FORMAL, parse_numeral

NUMERAL = rf"[{CHARACTERS}](?: ?[{CHARACTERS}])*"
DIGIT = rf"[{CHARACTERS}]"
WORDS = re.compile(
    rf"(?<![{CHARACTERS}\d])(?P<minus>负|負)? ?"
    rf"(?:(?P<whole>{NUMERAL}) ?(?:(?P<yuan>[元圆圓])|(?! ?[角分])))"
    rf"(?: ?(?P<jiao>{DIGIT}) ?角)?(?: ?零?(?P<fen>{DIGIT}) ?分)?(?: ?[整正])?"
)
CENTS = re.compile(rf"(?<![{CHARACTERS}\d元圆圓])(?P<jiao>{DIGIT}) ?角(?: ?(?P<fen>{DIGIT}) ?分)?(?: ?[整正])?")


class ChineseAmount(NamedTuple):
    """An amount in numerals: characters [start, end) of the text, and its number."""

    start: int
    end: int
    number: Decimal


def find_chinese_amounts(text: str) -> Iterator[ChineseAmount]:
    """Yield each amount in cleaned text: numerals with 元, or in the capital forms that are used for nothing else."""
    found: list[tuple[int, int]] = []
    for pattern in (WORDS, CENTS):
        for match in pattern.finditer(text):
            start, end = match.span()
            number = _number(match) if all(end <= one or start >= other for one, other in found) else None
            if number is not None:
                found.append((start, end))
                yield ChineseAmount(start, end, number)


def _number(match: re.Match[str]) -> Decimal | None:
    groups = match.groupdict()
    whole = groups.get("whole")
    if whole is not None and not groups["yuan"] and not _is_formal(whole):
        return None
    parts = [Decimal(0)]
    for name, worth in (("whole", Decimal(1)), ("jiao", Decimal("0.1")), ("fen", Decimal("0.01"))):
        if groups.get(name) is None:
            continue
        number = parse_numeral(groups[name])
        if number is None or (name != "whole" and number > 9):
            return None
        parts.append(number * worth)
    return -sum(parts, Decimal(0)) if groups.get("minus") else sum(parts, Decimal(0))


def _is_formal(numeral: str) -> bool:
    """Whether a numeral is written in capital forms throughout; a single one may be a name (陆先生)."""
    characters = set(numeral) - set(" 零〇万亿")
    return len(numeral) > 1 and bool(characters) and characters <= set(FORMAL)
