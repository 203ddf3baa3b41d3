"""What a snapshot says of itself: frozen with it, and the first file of every archive written of it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from review.exports.rows import Row, moment
from review.models import Snapshot
from review.selectors.snapshots import Candidate

VERSION = 1
PIXEL_SPACE = (
    "Boxes and polygons are in pixels of the page image beside them unless a format says otherwise: the upright page, "
    "turned as EXIF or the PDF says, origin at the top left, x to the right, y down. documents.jsonl gives the width "
    "and height of each page; a box divided by them is a share of the page at any resolution."
)


@dataclass(slots=True)
class ManifestBuilder:
    """Counts while a snapshot is taken; memory is that of the distinct versions, not of the records."""

    document_types: dict[str, dict[str, Any]] = field(default_factory=dict)
    engines: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: set[tuple[str, int]] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    probabilities: Counter[float] = field(default_factory=Counter)
    n_documents: int = 0
    n_pages: int = 0
    n_fields: int = 0
    n_labels: int = 0

    def leave_out(self, why: str, n: int = 1) -> None:
        """Count documents that the snapshot does not hold, by the code of why."""
        if n:
            self.left_out[why] += n

    def take_in(self, candidate: Candidate) -> None:
        """Count a record that the snapshot holds."""
        record, decision = candidate.item.record, candidate.item.decision
        version = record.run.schema_version
        slug = version.document_type.slug
        if (name := f"{slug}/{version.number}") not in self.document_types:
            self.document_types[name] = {
                "document_type": slug,
                "schema_version": version.number,
                "digest": version.digest,
                "schema": version.schema,
            }
        engine = record.run.engine_version
        if engine.digest not in self.engines:
            prompt = engine.spec.get("prompt_version")
            self.engines[engine.digest] = {
                "name": engine.name,
                "digest": engine.digest,
                **({"prompt_version": prompt} if prompt else {}),
            }
        if decision is not None:
            self.policies.add((slug, decision.policy.number))
        self.n_documents += 1
        self.n_pages += record.document.n_pages
        self.n_fields += len(candidate.states)
        self.states.update(candidate.states.values())
        for labels in candidate.item.labels.values():
            self.n_labels += len(labels)
            self.probabilities.update(label.inclusion_probability for label in labels)

    def build(self, snapshot: Snapshot, sides: Mapping[str, Mapping[str, Any]]) -> Row:
        """Return the manifest; `sides` are, by side, its counts and the SHA-256 of its frozen lines."""
        return {
            "manifest_version": VERSION,
            "project": snapshot.project.slug,
            "snapshot": snapshot.pk,
            "taken_at": moment(snapshot.taken_at),
            "holding": snapshot.holding,
            "personal": snapshot.personal,
            "document_types": [self.document_types[key] for key in sorted(self.document_types)],
            "counts": {
                "documents": self.n_documents,
                "pages": self.n_pages,
                "fields": self.n_fields,
                "labels": self.n_labels,
                "states": dict(sorted(self.states.items())),
            },
            "split": {
                "seed": snapshot.seed,
                "validation_share": snapshot.validation_share,
                "test_share": snapshot.test_share,
                "sides": {side: dict(counts) for side, counts in sides.items()},
                "rule": "whole groups: near duplicates, one vendor's name, one layout",
            },
            "left_out": dict(sorted(self.left_out.items())),
            # Whatever is held out, and what looks like it, was left out, or the snapshot failed.
            "is_without_regression_sets": True,
            "engine_versions": sorted(self.engines.values(), key=lambda one: one["digest"]),
            "prompt_versions": sorted({one.get("prompt_version", "") for one in self.engines.values()} - {""}),
            "policies": [{"document_type": slug, "number": number} for slug, number in sorted(self.policies)],
            "inclusion_probabilities": [
                {"inclusion_probability": one, "n_labels": n} for one, n in sorted(self.probabilities.items())
            ],
            "pixel_space": PIXEL_SPACE,
        }


def manifest_text(manifest: Mapping[str, Any]) -> bytes:
    """Return a manifest as a file: JSON with its keys in their order, which is that of the fields."""
    text = json.dumps(manifest, ensure_ascii=False, indent=1, allow_nan=False)
    return text.encode("utf-8", errors="backslashreplace") + b"\n"
