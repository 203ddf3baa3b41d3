"""Chinese numerals: 壹万贰仟叁佰 and 一万二千三百 as numbers, 二〇二六 and 贰零贰陆 digit by digit."""

import re

DIGITS = "零一二三四五六七八九"
UNITS = "十百千万亿"
FORMAL = "壹弌贰貳弍叁參叄参肆伍陆陸柒捌玖拾佰仟萬億"
"""Capital forms, as on bank notes and cheques; in everyday text they stand in names only."""
# Capital and traditional forms, circles that stand for zero, and the tens that are one character.
_PLAIN = str.maketrans(
    dict(
        zip(
            FORMAL + "〇○两兩廿卅",
            [*"一一二二二三三三三四五六六七八九十百千万亿", *"零零二二", "二十", "三十"],
            strict=True,
        )
    )
)
CHARACTERS = FORMAL + DIGITS + UNITS + "〇○两兩廿卅"

# What forms print for nothing: 零万伍仟零佰零拾零. Each such place is one silent zero.
_EMPTY_PLACES = tuple(map(re.compile, ("零[十百千]", "零+", "^零[万亿]|(?<=亿)零万", "零+")))
_ZERO_BEFORE_SECTION = re.compile("零(?=[万亿])")
_DIGIT = f"([{DIGITS[1:]}])"
_SECTION = f"((?:{_DIGIT}千)?零?(?:{_DIGIT}百)?零?(?:{_DIGIT}?(十))?零?{_DIGIT}?)"
_NUMERAL = re.compile(f"(?:{_SECTION}亿)?(?:零?{_SECTION}万)?零?{_SECTION}")
# 二百五 is 250 to one and 205 to another; 十五 is 15 to all.
_SHORT = re.compile(f"[百千][{DIGITS[1:]}](?=[万亿]|$)|[万亿][{DIGITS[1:]}]$")


def plain_numerals(text: str) -> str:
    """Return numerals in their everyday form, without the spaces between the boxes of a form."""
    return text.replace(" ", "").translate(_PLAIN)


def parse_numeral(text: str) -> int | None:
    """Return the number below 10^12 that a numeral with units says, or None where it says none (一百一百, 三千四万).

    Short forms of speech (二百五, 一万二) are none: people mean different numbers by them.
    """
    compact = plain_numerals(text)
    for empty in _EMPTY_PLACES:
        compact = empty.sub("零", compact)
    compact = _ZERO_BEFORE_SECTION.sub("", compact)
    match = _NUMERAL.fullmatch(compact)
    if not compact or match is None or _SHORT.search(compact):
        return None
    # Three sections of four digits, each as its text and the parts of it.
    sections = [match.groups()[start : start + 6] for start in (0, 6, 12)]
    if "" in (sections[0][0], sections[1][0]):
        return None
    hundred_millions, myriads, ones = (_section(*parts) for _, *parts in sections)
    return hundred_millions * 10**8 + myriads * 10**4 + ones


def _section(thousands: str | None, hundreds: str | None, tens: str | None, ten: str | None, ones: str | None) -> int:
    """Return a number from 0 to 9999 from its digits; 十 without a digit before it is one ten."""
    digits = (thousands, hundreds, tens or (ten and DIGITS[1]), ones)
    return sum(DIGITS.index(digit or "零") * 10**power for digit, power in zip(digits, (3, 2, 1, 0), strict=True))


def parse_digits(text: str) -> str | None:
    """Return the digits of a numeral without units ("二〇二六": "2026"), or None where it has units."""
    digits = [DIGITS.find(character) for character in plain_numerals(text)]
    return "".join(map(str, digits)) if digits and min(digits) >= 0 else None
