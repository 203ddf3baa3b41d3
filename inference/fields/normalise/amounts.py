"""Amounts and numbers as printed, to plain decimals; those in Chinese numerals come from `chinese_amounts`."""

import re
from decimal import Decimal

from inference.fields.normalise.chinese_amounts import find_chinese_amounts
from inference.fields.normalise.locales import decimal_mark, is_grouped_by_two
from inference.fields.normalise.outcome import NOTHING, Found, Normalised
from inference.fields.normalise.text import clean_text

CURRENCY = (
    r"(?:RM|US\$|S\$|HK\$|NT\$|A\$|C\$|R\$|CN¥|JP¥|[$€£¥₹₩฿₫₱]"
    r"|MYR|USD|EUR|GBP|CNY|RMB|JPY|SGD|HKD|TWD|THB|IDR|INR|AUD|CAD|CHF|KRW|VND|PHP|Rp|人民币|元|圆)"
)
# Chinese is written without spaces: 合计1200.00元整. Any other letter before a number makes it a part of a word.
NOT_IN_WORD = r"(?<![^\W\u2e80-\u9fff])"
DIGITS = r"(?:\d{1,3}(?:[ '’]\d{3})+(?!\d)|\d+)"
SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
NUMBER = rf"{DIGITS}(?:[.,]\d{{2,3}})*(?:[.,]\d+|[.,] \d\d(?!\d)| [.,]\d\d(?!\d))?|[.,]\d\d(?!\d)"
AMOUNT = re.compile(
    rf"{NOT_IN_WORD}(?<![.,/\-])(?<!\d:)(?P<open>\()?\s*(?P<sign>[-+])?\s*(?P<before>{CURRENCY}\.?)?\s*"
    rf"(?P<inner>[-+])?\s*(?P<number>{NUMBER})(?:\s*(?P<scale>[万萬亿億])|\s*(?P<trailing>-(?![\w])))?"
    rf"(?:\s*[元圆圓][整正]?(?P<close_yuan>\s*\))?(?![A-Za-z0-9%/])"
    rf"|(?P<after>\s*{CURRENCY}(?![A-Za-z]))?(?P<close>\s*\))?(?![\w%/]|[.,:]\d|-\w|[.,][OolI|SB]))",
    re.IGNORECASE,
)
CONFUSED = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", "|": "1", "S": "5", "s": "5", "B": "8"})
CONFUSED_NUMBER = re.compile(rf"({CURRENCY})?\s*(-?[\dOolI|SsB][\dOolI|SsB.,]*)", re.IGNORECASE)
GROUPING = str.maketrans("", "", " '’")
BY_TWO = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
MAX_DIGITS = 15


def parse_decimal(digits: str, locale: str) -> tuple[Decimal | None, tuple[str, ...]]:
    """Read unsigned digits with grouping and decimal marks; findings tell when the marks were doubtful."""
    compact = digits.translate(GROUPING)
    marks = [character for character in compact if character in ".,"]
    findings: tuple[str, ...] = ()
    if sum(character.isdigit() for character in compact) > MAX_DIGITS:
        return None, ("number_too_long",)
    if not marks:
        return Decimal(compact), findings
    if is_grouped_by_two(locale) and BY_TWO.fullmatch(compact):
        return Decimal(compact.replace(",", "")), findings
    head, _, tail = compact.rpartition(marks[-1])
    groups = re.split("[.,]", head)
    is_grouped = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3
    if len(set(marks)) == 1 and len(tail) == 3 and is_grouped and groups[0] != "0":
        is_decimal = len(marks) == 1 and marks[0] == decimal_mark(locale)
        findings = ("amount_ambiguous",) if is_decimal else ()
    else:
        is_decimal = True
        if len(marks) > 1 and (not is_grouped or len(set(marks)) == 1 or len(set(marks[:-1])) > 1):
            findings = ("amount_marks_mixed",)
    whole = "".join(groups) or "0"
    return Decimal(f"{whole}.{tail}" if is_decimal else whole + tail), findings


def _plain(number: Decimal, min_decimals: int) -> str:
    text = format(number, "f")
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0").ljust(min_decimals, "0")
    text = f"{whole}.{decimals}" if decimals else whole
    return text.removeprefix("-") if not number else text


def _closes(match: re.Match[str]) -> bool:
    return bool(match["close"] or match["close_yuan"])


def _from_match(match: re.Match[str], locale: str, min_decimals: int) -> Normalised:
    number, findings = parse_decimal(match["number"], locale)
    if number is None:
        return Normalised(None, findings)
    number *= SCALES.get(match["scale"], 1)
    signs = [match["sign"], match["inner"], match["trailing"]]
    if "-" in signs or (match["open"] and _closes(match)):
        number = -number
    return Normalised(_plain(number, min_decimals), findings)


def find_numbers(text: str, locale: str = "en", min_decimals: int = 0) -> list[Found]:
    """Return each number in cleaned text (not parts of dates, times, percentages, or codes)."""
    found = [
        Found(item.start, item.end, Normalised(_plain(item.number, min_decimals)))
        for item in ([] if text.isascii() else find_chinese_amounts(text))
    ]
    for match in AMOUNT.finditer(text):
        start, end = match.span()
        if bool(match["open"]) != _closes(match):
            start, end = (match.start("before"), end) if match["before"] else (match.start("number"), end)
        found.append(Found(start, end, _from_match(match, locale, min_decimals)))
    return sorted(found)


def find_amounts(text: str, locale: str = "en") -> list[Found]:
    """Return each amount in cleaned text, with two decimals at least."""
    return find_numbers(text, locale, min_decimals=2)


def _repaired(text: str, locale: str, min_decimals: int) -> Normalised:
    """Read a number whose letters can only be misread digits: a decimal mark and mostly digits must be there."""
    match = CONFUSED_NUMBER.fullmatch(text)
    if match is None:
        return NOTHING
    body = match[2]
    letters = sum(character.isalpha() or character == "|" for character in body)
    digits = sum(character.isdigit() for character in body)
    if not letters or letters > digits or not re.search(r"[.,][\dOolI|SsB]{2}$", body):
        return NOTHING
    number, findings = parse_decimal(body.translate(CONFUSED).lstrip("-"), locale)
    if number is None:
        return Normalised(None, findings)
    signed = -number if body.startswith("-") else number
    return Normalised(_plain(signed, min_decimals), ("ocr_digit_repaired", *findings))


def normalise_number(text: str, locale: str = "en", min_decimals: int = 0) -> Normalised:
    """Return the one number that `text` holds; several different ones are none ("number_several")."""
    cleaned = clean_text(text)
    found = find_numbers(cleaned, locale, min_decimals)
    values = {item.normalised.value for item in found}
    if len(values) == 1:
        return found[0].normalised
    return Normalised(None, ("number_several",)) if found else _repaired(cleaned, locale, min_decimals)


def normalise_amount(text: str, locale: str = "en") -> Normalised:
    """Return an amount as a plain decimal with at least two decimals ("1234.50"; "-12.00" for "(12.00)")."""
    return normalise_number(text, locale, min_decimals=2)
