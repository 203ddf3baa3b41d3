import hashlib
import json

import pytest

from review.exports.manifest import PIXEL_SPACE, ManifestBuilder, manifest_text
from review.models import Snapshot
from tests.conftest import Cast
from tests.review.snapshots import add_reviewed, taken


def test_a_manifest_keeps_the_order_of_its_keys_and_its_characters() -> None:
    text = manifest_text({"z": "壹\u2028", "a": [1]})
    assert list(json.loads(text)) == ["z", "a"]
    assert "壹\u2028".encode() in text
    assert text.endswith(b"}\n")


def test_a_manifest_of_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        manifest_text({"a": float("nan")})


def test_nothing_left_out_is_no_reason() -> None:
    manifest = ManifestBuilder()
    manifest.leave_out("copies", 0)
    manifest.leave_out("in_review", 2)
    assert dict(manifest.left_out) == {"in_review": 2}


def test_a_manifest_of_nothing_says_so(cast: Cast) -> None:
    snapshot = Snapshot.objects.create(project=cast.project, seed="x", validation_share=0.1, test_share=0.1)
    built = ManifestBuilder().build(snapshot, {})
    assert built["counts"] == {"documents": 0, "pages": 0, "fields": 0, "labels": 0, "states": {}}
    assert built["pixel_space"] == PIXEL_SPACE


def test_every_type_and_schema_version_is_there_once(cast: Cast) -> None:
    for name in ("a", "b"):
        add_reviewed(cast.document_type, name)
    add_reviewed(cast.other_document_type, "elsewhere")
    types = taken(cast.project).manifest["document_types"]
    assert [(one["document_type"], one["schema_version"]) for one in types] == [("receipt", 1)]


def test_the_checksums_are_those_of_the_frozen_lines_and_of_the_manifest(cast: Cast) -> None:
    for number in range(3):
        add_reviewed(cast.document_type, f"shop number {number}", words=())
    snapshot = taken(cast.project, test_share=0.3)
    for side, counted in snapshot.manifest["split"]["sides"].items():
        rows = snapshot.items.filter(split=side).order_by("id").values_list("row", flat=True)
        assert counted["sha256"] == hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()
        assert counted["documents"] == len(rows)
    assert snapshot.sha256 == hashlib.sha256(manifest_text(snapshot.manifest)).hexdigest()
