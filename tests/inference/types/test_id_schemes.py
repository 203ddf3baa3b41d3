import sys

import pytest

from inference.errors import DocumentTypeError
from inference.types import parse_document_type, validate_document_type
from inference.types.hints import LEAF_HINTS
from inference.types.id_schemes import known_schemes, scheme_module
from tests.inference.types.schemas import with_leaf


@pytest.mark.parametrize(
    "scheme", ["cn.uscc", "cn.ric", "my.nric", "tw.ubn", "th.tin", "eu.vat", "de.vat", "iban", "isbn"]
)
def test_tax_and_registration_numbers_of_many_places_are_known(scheme: str) -> None:
    assert scheme in known_schemes()
    assert hasattr(scheme_module(scheme), "validate")


def test_every_scheme_can_check_a_number() -> None:
    assert [scheme for scheme in known_schemes() if scheme_module(scheme) is None] == []


@pytest.mark.parametrize("name", ["util", "exceptions", "luhn", "cn.usc", "", "os", "..os", "cn"])
def test_what_is_no_scheme_is_none(name: str) -> None:
    assert scheme_module(name) is None


def test_a_module_outside_the_library_is_never_imported() -> None:
    before = set(sys.modules)
    scheme_module("__init__.os.path")
    assert set(sys.modules) == before


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("cn.uscc", None),
        ("cn.usc", "unknown scheme 'cn.usc' (did you mean 'cn.uscc'?)"),
        (7, "unknown scheme 7;"),
        (None, "unknown scheme None;"),
    ],
)
def test_a_wrong_scheme_is_named_with_the_nearest(written: object, message: str | None) -> None:
    found = LEAF_HINTS["x-id-scheme"](written)
    assert found is None if message is None else (found or "").startswith(message)


def test_a_scheme_is_part_of_the_field() -> None:
    schema = with_leaf(**{"x-value-type": "id", "x-id-scheme": "cn.uscc"})
    found = parse_document_type(schema).spec_of("/name")
    assert found is not None
    assert found.id_scheme == "cn.uscc"


def test_a_scheme_at_a_field_that_is_no_identifier_is_refused() -> None:
    with pytest.raises(DocumentTypeError) as caught:
        validate_document_type(with_leaf(**{"x-value-type": "name", "x-id-scheme": "cn.uscc"}))
    assert caught.value.problems == [("/properties/name/x-id-scheme", 'x-id-scheme needs "x-value-type": "id"')]
