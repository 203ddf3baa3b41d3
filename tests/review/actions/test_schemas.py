"""Schema versions are validated with exact messages, numbered and frozen."""

import copy

import pytest

from review.actions.schemas import create_document_type, publish_schema_version
from review.exceptions import ConflictError, InvalidInputError
from review.models import AuditEntry, PolicyState
from review.selectors.access import SYSTEM, Actor
from review.selectors.document_types import active_policy, document_types_for, schema_versions_of
from tests.conftest import Cast
from tests.factories import SCHEMA


def test_a_new_type_has_version_1_and_an_active_policy(cast: Cast) -> None:
    made = create_document_type(actor=Actor(cast.manager), project=cast.project, slug="bill", schema=SCHEMA)
    assert made.active_version is not None
    assert (made.active_version.number, made.active_version.schema) == (1, SCHEMA)
    assert made.labels == {"en": "Receipt", "zh": "收据"}
    found = active_policy(made)
    assert found is not None
    assert found[0].state == PolicyState.ACTIVE
    assert 0 < found[1].audit_auto_share <= 1
    assert [document_type.slug for document_type in document_types_for(cast.project)] == ["bill", "receipt"]


def test_the_first_policy_follows_what_errors_cost(cast: Cast) -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["total"]["x-error-cost"] = 20
    schema["properties"]["items"] = {
        "type": "array",
        "x-label": {"en": "Items", "zh": "明细"},
        "items": {
            "type": "object",
            "properties": {
                "amount": {
                    "type": "string",
                    "x-label": {"en": "Amount", "zh": "金额"},
                    "x-value-type": "amount",
                    "x-error-cost": 4,
                }
            },
        },
    }
    made = create_document_type(actor=SYSTEM, project=cast.project, slug="bill", schema=schema)
    found = active_policy(made)
    assert found is not None
    rules = found[1]
    assert rules.thresholds_for("/total").review == 0.95
    assert rules.thresholds_for("/items/3/amount").review == 0.75
    assert rules.thresholds_for("/company") == rules.default


def test_a_type_of_the_same_name_is_a_conflict(cast: Cast) -> None:
    with pytest.raises(ConflictError):
        create_document_type(actor=SYSTEM, project=cast.project, slug="receipt", schema=SCHEMA)


def test_an_unusable_schema_is_refused_with_the_place_and_nothing_is_made(cast: Cast) -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["total"]["x-value-typ"] = "amount"
    with pytest.raises(InvalidInputError) as caught:
        create_document_type(actor=SYSTEM, project=cast.project, slug="bill", schema=schema)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/properties/total/x-value-typ"]
    assert not cast.project.document_types.filter(slug="bill").exists()


def test_a_change_is_a_new_version_and_the_old_one_stays(cast: Cast) -> None:
    changed = copy.deepcopy(SCHEMA)
    changed["properties"]["total"]["x-error-cost"] = 100
    version = publish_schema_version(actor=Actor(cast.manager), document_type=cast.document_type, schema=changed)
    assert version.number == 2
    assert [row.schema for row in schema_versions_of(cast.document_type)] == [changed, SCHEMA]
    cast.document_type.refresh_from_db()
    assert cast.document_type.active_version == version
    assert AuditEntry.objects.get().detail == {"n": 2}


def test_publishing_the_same_schema_twice_adds_one_version(cast: Cast) -> None:
    changed = copy.deepcopy(SCHEMA) | {"x-locale": "en-GB"}
    first = publish_schema_version(actor=SYSTEM, document_type=cast.document_type, schema=changed)
    second = publish_schema_version(actor=SYSTEM, document_type=cast.document_type, schema=changed)
    assert first == second


def test_an_unusable_new_version_leaves_the_active_one(cast: Cast) -> None:
    before = cast.document_type.active_version
    with pytest.raises(InvalidInputError):
        publish_schema_version(actor=SYSTEM, document_type=cast.document_type, schema={"type": "array"})
    cast.document_type.refresh_from_db()
    assert cast.document_type.active_version == before
