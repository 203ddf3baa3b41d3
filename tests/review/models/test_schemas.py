import pytest
from django.core import serializers

from review.models import SchemaVersion
from tests import factories
from tests.conftest import Cast

# Longer before shorter and z before a: the opposite of what `jsonb` would make of it.
PROPERTIES = {
    name: {"type": "string", "x-label": {"zh": f"字段{name}", "en": name}} for name in ("zulu", "company", "a", "date")
}
SCHEMA = {"type": "object", "x-label": {"zh": "\u6536\u636e", "en": "Receipt"}, "properties": PROPERTIES}


@pytest.fixture
def version(cast: Cast) -> SchemaVersion:
    made = factories.make_document_type(cast.project, "ordered", SCHEMA).active_version
    assert made is not None
    return SchemaVersion.objects.get(pk=made.pk)


def test_a_schema_keeps_the_order_of_its_fields_on_every_database(version: SchemaVersion) -> None:
    assert version.schema == SCHEMA
    assert list(version.schema["properties"]) == ["zulu", "company", "a", "date"]
    assert SchemaVersion.objects.filter(pk=version.pk).values_list("schema", flat=True).get() == SCHEMA


def test_a_schema_survives_a_dump_and_a_load(version: SchemaVersion) -> None:
    dumped = serializers.serialize("json", [version])
    SchemaVersion.objects.filter(pk=version.pk).update(schema={})
    for loaded in serializers.deserialize("json", dumped):
        loaded.save()
    assert list(SchemaVersion.objects.get(pk=version.pk).schema["properties"]) == list(PROPERTIES)


def test_a_database_row_without_a_schema_reads_as_none() -> None:
    field = SchemaVersion._meta.get_field("schema")
    assert field.get_prep_value(None) is None
    assert field.from_db_value(None, None, None) is None
