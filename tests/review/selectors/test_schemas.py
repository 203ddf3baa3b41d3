import pytest

from inference.types import parse_document_type
from review.models import DocumentType, SchemaVersion
from review.selectors.schemas import field_spec_at, spec_of
from tests import factories
from tests.review.invoices import INVOICE

SPEC = parse_document_type(INVOICE)


@pytest.mark.parametrize(
    ("field_path", "column"),
    [
        ("/number", "/number"),
        ("/seller/name", "/seller/name"),
        ("/line_items/0/amount", "/amount"),
        ("/line_items/3/what", "/what"),
        ("/line_items/9999/amount", "/amount"),
    ],
)
def test_fields_and_cells_of_rows_are_known(field_path: str, column: str) -> None:
    found = field_spec_at(SPEC, field_path)
    assert found is not None
    assert found.path == column


@pytest.mark.parametrize(
    "field_path",
    [
        "",
        "/",
        "number",
        "/number/",
        "/seller",
        "/line_items",
        "/line_items/0",
        "/line_items/amount",
        "/line_items/-1/amount",
        "/line_items/01/amount",
        "/line_items/10000/amount",
        "/line_items/٣/amount",
        "/line_items/3/colour",
        "/line_items/3/amount/x",
        "/x/line_items/3/amount",
        "/line_items/" + "1" * 300 + "/amount",
    ],
)
def test_any_other_path_is_unknown_so_that_each_cell_has_one(field_path: str) -> None:
    assert field_spec_at(SPEC, field_path) is None


def test_a_schema_version_is_parsed_once(cast: object, document_type: DocumentType) -> None:
    version = document_type.active_version
    assert version is not None
    again = SchemaVersion.objects.get(pk=version.pk)
    assert spec_of(again) is spec_of(SchemaVersion.objects.get(pk=version.pk))
    assert spec_of(again) == spec_of(version)


def test_two_schemas_never_share_their_specs(cast: object, document_type: DocumentType) -> None:
    first = document_type.active_version
    second = SchemaVersion(document_type=document_type, number=2, schema=factories.SCHEMA, digest="")
    assert first is not None
    assert [field.path for field in spec_of(first).fields] == ["/number", "/seller/name"]
    assert [field.path for field in spec_of(second).fields] == ["/company", "/date", "/total"]


@pytest.fixture
def document_type(db: None) -> DocumentType:
    return factories.make_document_type(factories.make_project(), "invoice", INVOICE)
