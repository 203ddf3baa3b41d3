"""Answers broken in the ways in which models break them, each with what a person would read in it, or None (B1).

Whole answers are made first, of values that look like structure (quotes, commas, braces, colons inside), then broken
by a rule with a name. The same seed makes the same corpus.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inference.answers.strict import NotStrictError, read_strictly
from tests.inference.answers.types_read import bill

SELLERS = (
    "ACME Ltd.", "7-ELEVEN", "Joe's Café", 'The "Best" Shop', "B&B, Bed {and} Breakfast", "上海市第一百货有限公司",
    "永和大王（南京路店）", "Smith: Sons, Inc.", "O'Neil [Holdings]", "A/S Nordic\\Sea", "Fish }{ Chips", "null & void",
    "Tea, milk: and more", "“Zum Hirschen”", "Ende…", "C# // .NET shop", "RM 5 SHOP", "`Quoted`", "L'été", "Δ, Inc",
)  # fmt: skip
DATES = ("2026-11-29", "29/11/2026", "29 Nov, 2026", "2026年11月29日", "11.2.26 18:05", "Nov 3, 2026", None)
TOTALS = ("12.50", "1,234.56", "RM 8.00", "￥1,000.00", "(12.00)", "0.10", "$5.00", "1 234,50", "12,345", None)
PHONES = ("03-1234 5678", "+86 21 6332 1234", "(012) 345-678", "007", None)
TEXTS = (
    "tea", "MILK 1L, fresh", '12" pipe', "bread: white", "糯米鸡，大份", "2 x 5.00", "O'Reilly book", "a {b} c", "x]",
    "50% off", "item\tno. 5", "rice, 5kg", "面包", "Coke 0.33l", "“Special” set", "No. 00123",
)  # fmt: skip
AMOUNTS = ("1.00", "2.50", "1,050.00", "12", "0.05", "-3.00", None)
SCHEMA = bill()


@dataclass(frozen=True, slots=True)
class Broken:
    """One broken answer. `truth` is what a person would read in it; None where a person could not be sure."""

    kind: str
    text: str
    truth: Mapping[str, Any] | None


def whole(rng: random.Random) -> dict[str, Any]:
    """Return one answer to the document type `bill`, every name in it."""
    rows = [{"text": rng.choice(TEXTS), "amount": rng.choice(AMOUNTS)} for _ in range(rng.randint(0, 4))]
    return {
        "seller": rng.choice(SELLERS),
        "date": rng.choice(DATES),
        "total": rng.choice(TOTALS),
        "pages": rng.choice(["1", "2", None]),
        "buyer": {"phone": rng.choice(PHONES)},
        "items": rows,
    }


def written(values: Mapping[str, Any], rng: random.Random) -> str:
    """Return the values as JSON, in one of the usual layouts."""
    indent, separators = rng.choice([(None, None), (None, (",", ":")), (2, None), (4, None)])
    return json.dumps(values, ensure_ascii=False, indent=indent, separators=separators)


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\s+')


def tokens(text: str) -> list[str]:
    """Return a JSON text in pieces: strings, marks, literals, white space."""
    return TOKEN.findall(text)


def is_string(token: str) -> bool:
    return token.startswith('"')


# --- kinds of B1 ------------------------------------------------------------------------------------------------------

BEFORE = (
    "Here is the extracted JSON:", "Sure! Below are the fields you asked for.", "根据图片，提取结果如下：",
    "I looked for {seller, date} on the page.", 'The word "TOTAL" stands at the bottom.', "Result [1]:", "JSON",
    "It's a bill; the seller's name is at the top:", "Note: keys are as asked (see {schema}).",
)  # fmt: skip
AFTER = (
    "Let me know if you need anything else!", "以上是提取的结果。", "The total was taken from the last line.", "</s>",
    "Note: null means that nothing is printed {as asked}.", "<|im_end|>", "I hope this helps :-)", "```", ";",
    'All amounts in "MYR".', "[end]",
)  # fmt: skip


def fenced(text: str, rng: random.Random) -> str:
    opening = rng.choice(["```json\n", "```\n", "```JSON\n", "``` json\n", "~~~json\n", "```json "])
    closing = opening[:3] if rng.random() < 0.9 else ""
    before = f"{rng.choice(BEFORE)}\n\n" if rng.random() < 0.4 else ""
    after = f"\n{rng.choice(AFTER[:3])}" if closing and rng.random() < 0.4 else ""
    return f"{before}{opening}{text}\n{closing}{after}"


def prose_around(text: str, rng: random.Random) -> str:
    before = rng.choice(BEFORE) + rng.choice(["\n", " ", "\n\n"]) if rng.random() < 0.8 else ""
    after = rng.choice(["\n", " ", "\n\n"]) + rng.choice(AFTER) if not before or rng.random() < 0.6 else ""
    return before + text + after


QUOTES = (("“", "”"), ("„", "“"), ("”", "”"), ("＂", "＂"), ("«", "»"))


def smart_quotes(text: str, rng: random.Random) -> str:
    opening, closing = rng.choice(QUOTES)
    share = rng.choice([1.0, 1.0, 0.5])
    return "".join(
        opening + token[1:-1].replace('\\"', '"') + closing if is_string(token) and rng.random() < share else token
        for token in tokens(text)
    )


def trailing_commas(text: str, rng: random.Random) -> str:
    parts = tokens(text)
    places = [n for n, token in enumerate(parts) if token in "}]" and _before(parts, n) not in "{["]
    for n in sorted(rng.sample(places, rng.randint(1, len(places))), reverse=True):
        at = n - 1 if parts[n - 1].isspace() else n
        parts.insert(at, ",")
    return "".join(parts)


def _before(parts: list[str], n: int) -> str:
    return next(token for token in reversed(parts[:n]) if not token.isspace())


def missing_brackets(text: str, rng: random.Random) -> str:
    """Drop brackets in places where only one place is left for them."""
    parts = tokens(text)
    closing = [n for n, token in enumerate(parts) if token in "}]" and _before(parts, n) not in "{["]
    match rng.randint(0, 3):
        case 0:
            del parts[closing[-1]]
        case 1:
            for n in closing[-rng.randint(2, 3) :][::-1]:
                if "".join(parts[n + 1 :]).strip() == "":
                    del parts[n]
        case 2:
            del parts[rng.choice(closing)]
        case _:
            del parts[0]
    return "".join(parts)


# --- other kinds ------------------------------------------------------------------------------------------------------


def missing_commas(text: str, rng: random.Random) -> str:
    parts = tokens(text)
    places = [n for n, token in enumerate(parts) if token == ","]
    for n in rng.sample(places, rng.randint(1, len(places))):
        parts[n] = rng.choice(["", " ", "\n"])
    return "".join(parts)


def python_literals(text: str, rng: random.Random) -> str:
    return repr(json.loads(text))


def raw_controls(text: str, rng: random.Random) -> str:
    """Line breaks and tabs that stand in strings as they are."""
    return text.replace("\\t", "\t")


def inner_quotes(text: str, rng: random.Random) -> str:
    return text.replace('\\"', '"')


def bare_values(text: str, rng: random.Random) -> str:
    """Names, dates and amounts that have lost their quotes."""
    plain = re.compile(r'"[\w./-]*"')
    return "".join(token[1:-1] if plain.fullmatch(token) and rng.random() < 0.7 else token for token in tokens(text))


def bare_thousands(text: str, rng: random.Random) -> str:
    plain = re.compile(r'"\d[\d,.]*"')
    return "".join(token[1:-1] if plain.fullmatch(token) else token for token in tokens(text))


def wide_marks(text: str, rng: random.Random) -> str:
    wide = {",": "，", ":": "：", "{": "｛", "}": "｝", "[": "［", "]": "］"}
    chosen = wide if rng.random() < 0.3 else {",": "，", ":": "："}
    return "".join(chosen.get(token, token) for token in tokens(text))


def thinking(text: str, rng: random.Random) -> str:
    thought = rng.choice(["The total may be {12.50} or 13.00.", 'Maybe {"total": "99.00"}? No.', "Let me look…"])
    return f"<think>\n{thought}\n</think>\n{text}"


def comments(text: str, rng: random.Random) -> str:
    parts = tokens(text)
    places = [n for n, token in enumerate(parts) if token == ","]
    for n in rng.sample(places, min(2, len(places))):
        parts[n] = rng.choice([", // as printed\n", ", /* see above */ "])
    return "".join(parts)


def said_twice(text: str, rng: random.Random) -> str:
    return f"{text}\n\nAs a block:\n```json\n{text}\n```"


def wrapped(text: str, rng: random.Random) -> str:
    return rng.choice(["[%s]", '{"bill": %s}', '{"properties": %s}', '{"answer": %s}', '{"result": [%s]}']) % text


def quoted_whole(text: str, rng: random.Random) -> str:
    return json.dumps(text, ensure_ascii=False)


def wrong_escapes(text: str, rng: random.Random) -> str:
    return re.sub(r"(?<=[\w\"])([$_&'(])", r"\\\1", text)


# --- kinds that nobody can read for certain ---------------------------------------------------------------------------


def cut_inside(text: str, rng: random.Random) -> str:
    """The end is missing, from the middle of a string on."""
    parts = tokens(text)
    n = rng.choice([n for n, token in enumerate(parts) if is_string(token) and len(token) > 3])
    return "".join(parts[:n]) + parts[n][: rng.randint(1, len(parts[n]) - 1)]


def cut_and_closed(text: str, rng: random.Random) -> str:
    """As before, and brackets at the end: the last string swallows them."""
    return cut_inside(text, rng) + rng.choice(["}", "]}", "\n}"])


def cut_between(text: str, rng: random.Random) -> str:
    """The end is missing after a comma or a name: something was to follow."""
    parts = tokens(text)
    n = rng.choice([n for n, token in enumerate(parts) if token in ",:"])
    return "".join(parts[: n + 1])


def cut_after(text: str, rng: random.Random) -> str:
    """The end is missing after a whole value, and fields are missing with it."""
    parts = tokens(text)
    n = rng.choice([n for n, token in enumerate(parts) if token == "," and '"items"' not in parts[:n]])
    return "".join(parts[:n])


def says_two_things(text: str, rng: random.Random) -> str:
    other = json.dumps({**json.loads(text), "total": "99.99"}, ensure_ascii=False)
    joint = rng.choice(["\n", "\n\nOr, if the last line counts:\n", "\n```json\n"])
    return text + joint + other


def key_twice(text: str, rng: random.Random) -> str:
    name = rng.choice(["seller", "total", "date"])
    return text.rstrip()[:-1].rstrip() + f', "{name}": "99.99"' + rng.choice(["}", ",}", ""])


def left_out(text: str, rng: random.Random) -> str:
    """Rows are left out, with dots in their place."""
    values = json.loads(text)
    rows = json.dumps([*values["items"], {"text": "tea", "amount": "1.00"}], ensure_ascii=False)[:-1]
    head = json.dumps({**values, "items": None}, ensure_ascii=False).removesuffix("null}")
    return head + rows + rng.choice([", ...]}", ", …]}", ",\n // more rows\n ...\n]}"])


def value_missing(text: str, rng: random.Random) -> str:
    parts = tokens(text)
    n = rng.choice([n for n, token in enumerate(parts) if token == ":" and parts[n + 1 :][:2] and _is_leaf(parts, n)])
    after = n + 2 if parts[n + 1].isspace() else n + 1
    del parts[after]
    return "".join(parts)


def _is_leaf(parts: list[str], n: int) -> bool:
    value = next(token for token in parts[n + 1 :] if not token.isspace())
    return value not in "{["


def no_number(text: str, rng: random.Random) -> str:
    return re.sub(r'"total": ?("[^"]*"|null)', '"total": NaN', text, count=1)


def only_prose(text: str, rng: random.Random) -> str:
    values = json.loads(text)
    return rng.choice(
        [f"The seller is {values['seller']}.", "I cannot read this page.", "抱歉，图片不清楚。", "{seller}"]
    )


Break = Callable[[str, random.Random], str]
B1: dict[str, Break] = {
    one.__name__: one for one in (fenced, prose_around, smart_quotes, trailing_commas, missing_brackets)
}
OTHERS: dict[str, Break] = {
    one.__name__: one
    for one in (
        missing_commas, python_literals, raw_controls, inner_quotes, bare_values, bare_thousands, wide_marks, thinking,
        comments, said_twice, wrapped, quoted_whole, wrong_escapes,
    )
}  # fmt: skip
UNREADABLE: dict[str, Break] = {
    one.__name__: one
    for one in (
        cut_inside, cut_and_closed, cut_between, cut_after, says_two_things, key_twice, left_out, value_missing,
        no_number, only_prose,
    )
}  # fmt: skip
N_B1, N_TWO, N_OTHERS, N_UNREADABLE = 400, 200, 260, 140


def corpus(seed: int = 0) -> list[Broken]:
    """Return 1,000 broken answers: of B1's kinds, two of those at once, other kinds, and such that nobody can read."""
    rng = random.Random(seed)
    return [
        *_some(rng, N_B1, list(B1.items())),
        *_some(rng, N_TWO, list(_pairs())),
        *_some(rng, N_OTHERS, list(OTHERS.items())),
        *(Broken(one.kind, one.text, None) for one in _some(rng, N_UNREADABLE, list(UNREADABLE.items()))),
    ]


def _pairs() -> Iterator[tuple[str, Break]]:
    inner = ("smart_quotes", "trailing_commas", "missing_brackets")
    yield "trailing_commas+smart_quotes", lambda text, rng: smart_quotes(trailing_commas(text, rng), rng)
    for name in inner:
        for outer in (fenced, prose_around):
            yield f"{name}+{outer.__name__}", _both(B1[name], outer)


def _both(first: Break, then: Break) -> Break:
    return lambda text, rng: then(first(text, rng), rng)


def _some(rng: random.Random, n: int, kinds: list[tuple[str, Break]]) -> Iterator[Broken]:
    made = 0
    while made < n:
        kind, spoil = kinds[made % len(kinds)]
        values = whole(rng)
        text = written(values, rng)
        broken = spoil(text, rng)
        if is_broken(broken):
            yield Broken(kind, broken, values)
            made += 1


def is_broken(text: str) -> bool:
    """Whether the text is anything but an answer as asked for."""
    try:
        answer = read_strictly(text)
    except NotStrictError:
        return True
    return not isinstance(answer, dict) or set(answer) != set(SCHEMA["properties"])
