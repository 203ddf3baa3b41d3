"""Every text that a person reads has a Chinese translation, none is guessed, and placeholders survive."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
}
PLACEHOLDER = re.compile(r"%\((\w+)\)[a-z]|%%")


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with (ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file, locale="zh_Hans")


def sources() -> Iterator[tuple[Path, str]]:
    for package in ("ocrsite", "review", "inference"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "templates").rglob("*.html")):
        # What makemessages does: translated tags become calls, and everything else becomes X.
        yield path, "\n".join(calls_in(templatize(path.read_text(encoding="utf-8"))))


def calls_in(text: str) -> Iterator[str]:
    string = r'u?(?:"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
    for match in re.finditer(rf"\b(?:gettext|_)\({string}\)|\bngettext\({string},\s*{string},\s*count\)", text, re.S):
        yield match[0]


def used() -> set[str]:
    found = set()
    for _path, text in sources():
        for _line, message, _comments, _context in extract("python", io.BytesIO(text.encode()), keywords=KEYWORDS):
            found.add(message[0] if isinstance(message, tuple) else message)
    return found - {""}


def key(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def placeholders(message: Message) -> set[str]:
    """Of both numbers: Chinese has one form, which may need what only the plural names."""
    ids = [message.id] if isinstance(message.id, str) else message.id
    return {found for text in ids for found in PLACEHOLDER.findall(text)}


def forms(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string or [""])


def test_the_search_finds_texts_of_code_and_of_templates() -> None:
    assert {"Sign in", "stored", "No export yet. Choose a format above and write the first.", "%(n)d byte"} <= used()
    assert "%(n)s waits for a person, for %(age)s" in used()


def test_every_text_has_a_translation(catalogue: Catalog) -> None:
    translated = {key(message) for message in catalogue if message.id and all(forms(message))}
    assert sorted(used() - translated) == []


def test_no_translation_is_a_guess(catalogue: Catalog) -> None:
    assert [key(message) for message in catalogue if message.id and message.fuzzy] == []


def test_no_translation_is_left_of_a_text_that_is_gone(catalogue: Catalog) -> None:
    assert sorted({key(message) for message in catalogue if message.id} - used()) == []


def test_placeholders_are_those_of_the_text(catalogue: Catalog) -> None:
    wrong = [
        key(message)
        for message in catalogue
        if message.id
        for form in forms(message)
        if set(PLACEHOLDER.findall(form)) != placeholders(message)
    ]
    assert wrong == []


def test_marked_up_texts_keep_their_markup(catalogue: Catalog) -> None:
    tag = re.compile(r"</?[a-z]+[^>]*>")
    wrong = [
        key(message)
        for message in catalogue
        if message.id
        for form in forms(message)
        if sorted(tag.findall(form)) != sorted(tag.findall(key(message)))
    ]
    assert wrong == []
