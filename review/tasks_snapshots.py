"""Snapshots are taken outside of requests, in two looks at the records: who belongs together, then what is frozen."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import structlog

from inference.fields.grouping import Grouping, Looked, split_groups
from inference.types import ValueType, Word
from review.actions.snapshots import (
    add_to_snapshot,
    claim_snapshot,
    fail_snapshot,
    finish_snapshot,
    minding_space,
    note_snapshot_progress,
)
from review.exceptions import StorageFullError
from review.exports.frozen import PERSONAL_NOT_LOCATED, frozen_line, frozen_row, has_unlocated_personal
from review.exports.manifest import ManifestBuilder
from review.models import Personal, Snapshot, SnapshotItem, Split
from review.selectors.held_out import HeldOut, held_out_of
from review.selectors.schemas import spec_of
from review.selectors.snapshots import Candidate, candidates_of, is_held, left_out_before, words_of_first_pages
from review.tasks import NoLongerOursError, task

HELD_OUT = "held_out"
HELD_OUT_UNKNOWN = "held_out_unknown"
NOT_HELD = "not_by_people"
_PAIRS_AT_ONCE = 200
log = structlog.get_logger(__name__)


class _HeldOutUnknownError(Exception):
    """It is not known what the pages of a regression set look like, so that none of them can be kept out."""


@task
def take_snapshot(snapshot_id: int) -> None:
    """Take a snapshot that was asked for, from the beginning; delivered again, it does nothing that is done."""
    claim = claim_snapshot(snapshot_id=snapshot_id)
    if claim is None:
        return
    try:
        with minding_space():
            _take(claim)
    except NoLongerOursError:
        log.info("snapshot given up: cancelled or taken over")
    except _HeldOutUnknownError:
        fail_snapshot(claim=claim, code=HELD_OUT_UNKNOWN)
    except StorageFullError as error:
        log.warning("snapshot failed", reason=error.code)
        fail_snapshot(claim=claim, code=error.code)
    except Exception:
        fail_snapshot(claim=claim, code="snapshot_failed")
        raise


@dataclass(slots=True)
class _Side:
    """What has been frozen of one side."""

    n_documents: int = 0
    n_pages: int = 0
    groups: set[str] = field(default_factory=set)
    sha256: Any = field(default_factory=hashlib.sha256)

    def add(self, item: SnapshotItem) -> None:
        self.n_documents += 1
        self.n_pages += len(item.pages)
        self.groups.add(item.group)
        self.sha256.update(item.row.encode() + b"\n")

    def as_json(self) -> dict[str, Any]:
        return {
            "documents": self.n_documents,
            "pages": self.n_pages,
            "groups": len(self.groups),
            "sha256": self.sha256.hexdigest(),
        }


def _take(snapshot: Snapshot) -> None:
    held_out = held_out_of(snapshot.project)
    if held_out.looks is None:
        raise _HeldOutUnknownError
    manifest = ManifestBuilder()
    for why, n in left_out_before(snapshot).items():
        manifest.leave_out(why, n)
    groups, kept = _grouped(snapshot, held_out, manifest)
    train = 1 - snapshot.validation_share - snapshot.test_share
    shares = (
        (Split.TRAIN.value, train),
        (Split.VALIDATION.value, snapshot.validation_share),
        (Split.TEST.value, snapshot.test_share),
    )
    splits = split_groups(groups, shares, snapshot.seed)
    sides = {side: _Side() for side, _ in shares}
    n_looked = snapshot.n_records
    for looked_at in candidates_of(snapshot, is_first_look=False):
        batch = [one for one in looked_at if one.item.record.pk in kept]
        items = [_item(snapshot, one, groups, splits) for one in batch]
        for one, item in zip(batch, items, strict=True):
            manifest.take_in(one)
            sides[item.split].add(item)
        n_looked += len(batch)
        if not add_to_snapshot(claim=snapshot, items=items, n_done=n_looked // 2):
            raise NoLongerOursError
    built = manifest.build(snapshot, {side: counted.as_json() for side, counted in sides.items()})
    if not finish_snapshot(claim=snapshot, manifest=built):
        raise NoLongerOursError


def _item(snapshot: Snapshot, one: Candidate, groups: dict[str, str], splits: dict[str, str]) -> SnapshotItem:
    record = one.item.record
    key = record.document.sha256
    row = frozen_row(snapshot.project, one, split=splits[key], group=groups[key], personal=snapshot.personal)
    return SnapshotItem(
        snapshot=snapshot,
        record=record,
        split=splits[key],
        group=groups[key],
        row=frozen_line(row),
        pages=[page.frozen() for page in one.pages],
    )


def _grouped(snapshot: Snapshot, held_out: HeldOut, manifest: ManifestBuilder) -> tuple[dict[str, str], set[int]]:
    """Return the group of each document by its SHA-256, and the ids of the records that the snapshot holds.

    What is left out is counted in the manifest, by why.
    """
    grouping, kept, n_done = Grouping(), set[int](), 0
    for batch in _held(snapshot, held_out, manifest.left_out):
        for one in batch:
            grouping.add(_looked(one))
            kept.add(one.item.record.pk)
        n_done += len(batch)
        if not note_snapshot_progress(claim=snapshot, n_done=n_done // 2):
            raise NoLongerOursError
    pairs = list(grouping.near_looks())
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = pairs[start : start + _PAIRS_AT_ONCE]
        words: defaultdict[str, tuple[Word, ...]] = defaultdict(tuple)
        words.update(words_of_first_pages(snapshot, {key for pair in part for key in pair}))
        grouping.join_looks(part, words)
    return grouping.groups(), kept


def _held(snapshot: Snapshot, held_out: HeldOut, left_out: Counter[str]) -> Iterator[list[Candidate]]:
    """Yield what the snapshot holds of the records of its moment; count what it does not."""
    for batch in candidates_of(snapshot, is_first_look=True):
        held = []
        for one in batch:
            why = _why_not(snapshot, one, held_out)
            if why:
                left_out[why] += 1
            else:
                held.append(one)
        if held:
            yield held


def _why_not(snapshot: Snapshot, one: Candidate, held_out: HeldOut) -> str:
    if not is_held(one.item.record, snapshot.holding):
        return NOT_HELD
    if held_out.is_shut_out(one.item.record.document.sha256, (page.page.perceptual_hash for page in one.pages)):
        return HELD_OUT
    if snapshot.personal != Personal.KEPT and has_unlocated_personal(one):
        return PERSONAL_NOT_LOCATED
    return ""


def _looked(one: Candidate) -> Looked:
    spec = spec_of(one.item.record.run.schema_version)
    names = [field.path for field in spec.fields if field.value_type is ValueType.NAME]
    vendor = next((str(one.item.record.values[path]) for path in names if one.item.record.values.get(path)), "")
    looks = tuple(page.page.perceptual_hash for page in one.pages)
    return Looked(one.item.record.document.sha256, vendor, looks, one.pages[0].words if one.pages else ())
