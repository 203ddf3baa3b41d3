"""From evidence to a decision: a band for every field and for the document, and who is looked at with what chance.

The sampling design:

- A field's band is REVIEW when anything is wrong with it (a finding, no value though required, a value without a
  confidence, a confidence below the review threshold), AUTO from the auto threshold on, SAMPLED between.
- The document's band is the worst of its *required* fields. A doubtful optional field does not hold a document up:
  it keeps its own band, so that a record can show its value as doubtful, and it is looked at first when a person has
  the document anyway. A document type without required fields is banded by all of them; a document without any
  field goes to a person.
- An optional field that is absent, with nothing wrong and no confidence in its absence, is SAMPLED: most documents
  lack some optional field, a person need not confirm each, but it is never AUTO and is looked at with a known chance.
- A field that the monitor of its target has stopped, or whose certificate is not of the engine version that read the
  document, is doubtful wherever it has a value, and decides about its document as a required one does, whether it is
  required or not: nothing of it is stored unseen.
- Nothing is AUTO that was read by an engine which has not proven itself: what would be, is SAMPLED, and every field
  says so among its reasons.
- A document in band AUTO or SAMPLED is audited when its audit draw falls below the rate of its band (of the band
  SAMPLED, where the policy directs audits, below a rate that grows with the document's interest): then every field
  is examined. In a document in band REVIEW the doubtful fields are examined for certain; a second, independent draw
  decides whether its other fields are examined as well.

So the inclusion probability of a field is 1 (doubtful, in a reviewed document), the full examination's share (any
other field of a reviewed document) or the audit rate of the document's band. It is never 0: whatever was stored
without a look had a known, positive chance of one, which is what `review.accuracy.estimators` needs. A field that
nobody examined has no verdict; a field that a reviewer touched though `is_to_examine` is false is ground truth but
not part of the sample.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from review.routing.bands import Band
from review.routing.paths import column_path
from review.routing.policy import PolicyRules, Thresholds
from review.routing.reasons import Reason, in_order, reason_for_finding
from review.routing.sampling import Purpose, draw


@dataclass(frozen=True, slots=True)
class FieldEvidence:
    """What routing may know of a field: never its value.

    `confidence` is in 0-1; None, NaN and anything outside 0-1 count as missing. `findings` are codes of failures.
    """

    field_path: str
    confidence: float | None
    has_value: bool
    is_required: bool
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldDecision:
    """A field's band with its reasons, the probability that it is examined, and whether it is."""

    field_path: str
    band: Band
    reasons: tuple[Reason, ...]
    inclusion_probability: float
    is_to_examine: bool


@dataclass(frozen=True, slots=True)
class Draws:
    """The two numbers in [0, 1) that chance gave the document under this policy."""

    audit: float
    full_examination: float


@dataclass(frozen=True, slots=True)
class DocumentDecision:
    """What happens next with a document. `is_selected`: a person must look at it, in review or as an audit.

    `is_full_examination`: a document in band REVIEW of which every field is to be examined.
    """

    band: Band
    is_selected: bool
    is_full_examination: bool
    reasons: tuple[Reason, ...]
    draws: Draws
    fields: tuple[FieldDecision, ...]


def decide(
    fields: Sequence[FieldEvidence],
    rules: PolicyRules,
    document_key: str,
    policy_key: str,
    *,
    document_reasons: Sequence[Reason] = (),
    is_proven: bool = True,
    stopped: Collection[str] = (),
    uncertified: Collection[str] = (),
    interest: float | None = None,
) -> DocumentDecision:
    """Route one document by the module's design; the same arguments always give the same decision.

    `document_reasons` are known of the document as a whole: a fault (`Reason.is_fault`) makes every field doubtful, any
    other is only kept. `is_proven` says whether the engine that read it may be trusted with the band AUTO. `stopped`
    are the fields that a monitor has stopped, `uncertified` those whose target nothing certifies for the engine version
    that read the document, both with rows as `*`. `interest` in 0-1 says how much an audit would
    teach; None where that is not known. Raise ValueError when a field path occurs twice.
    """
    paths = [field.field_path for field in fields]
    if len(set(paths)) != len(paths):
        raise ValueError("a field path occurs twice")
    faults = [reason for reason in document_reasons if reason.is_fault]
    if not fields:
        faults.append(Reason.NOTHING_READ)
    holds = [_holds(field, stopped, uncertified) for field in fields]
    banded = _banded(fields, rules, faults, holds, is_proven=is_proven)
    decides = _deciding(fields, [bool(hold) for hold in holds])
    deciding = [pair for pair, is_deciding in zip(banded, decides, strict=True) if is_deciding]
    band = Band.REVIEW if faults else Band.worst(band for band, _ in deciding)
    draws = Draws(
        draw(document_key, policy_key, rules.salt, Purpose.AUDIT),
        draw(document_key, policy_key, rules.salt, Purpose.FULL_EXAMINATION),
    )
    share = document_share(band, rules, interest)
    is_drawn = (draws.full_examination if band is Band.REVIEW else draws.audit) < share
    reasons = [*document_reasons, *faults]
    reasons += [reason for own, why in deciding if own is band for reason in why]
    if is_drawn:
        reasons.append(_DRAWN[band])
    return DocumentDecision(
        band=band,
        is_selected=band is Band.REVIEW or is_drawn,
        is_full_examination=band is Band.REVIEW and is_drawn,
        reasons=in_order(reasons),
        draws=draws,
        fields=tuple(
            FieldDecision(
                field_path=path,
                band=own,
                reasons=why,
                inclusion_probability=1.0 if band is own is Band.REVIEW else share,
                is_to_examine=is_drawn or band is own is Band.REVIEW,
            )
            for path, (own, why) in zip(paths, banded, strict=True)
        ),
    )


_DRAWN = {
    Band.AUTO: Reason.AUDIT_AUTO,
    Band.SAMPLED: Reason.AUDIT_SAMPLED,
    Band.REVIEW: Reason.FULL_EXAMINATION,
}


def base_share(band: Band, rules: PolicyRules) -> float:
    """Return the probability in (0, 1] that a field nobody doubts is examined in a document of `band`.

    Where audits are directed this is the mean of the band SAMPLED.
    """
    return {
        Band.AUTO: rules.audit_auto_share,
        Band.SAMPLED: rules.audit_sampled_share,
        Band.REVIEW: rules.full_examination_share,
    }[band]


def document_share(band: Band, rules: PolicyRules, interest: float | None) -> float:
    """Return the probability in (0, 1] that a field nobody doubts is examined in this document of `band`.

    `interest` in 0-1 is that of the document, None where it is not known; only where the band SAMPLED has its audits
    directed does it matter.
    """
    return rules.sampled_share(interest) if band is Band.SAMPLED else base_share(band, rules)


def _deciding(fields: Sequence[FieldEvidence], halted: Sequence[bool]) -> list[bool]:
    """Return of each field whether the document's band follows from it; all of them where none is required."""
    has_required = any(field.is_required for field in fields)
    return [field.is_required or is_halted or not has_required for field, is_halted in zip(fields, halted, strict=True)]


def _banded(
    fields: Sequence[FieldEvidence],
    rules: PolicyRules,
    faults: Sequence[Reason],
    holds: Sequence[Sequence[Reason]],
    *,
    is_proven: bool,
) -> list[tuple[Band, tuple[Reason, ...]]]:
    banded = [_band(field, rules.thresholds_for(field.field_path), faults) for field in fields]
    if not is_proven:
        banded = [_unproven(*pair) for pair in banded]
    return [_held(*pair, hold) if hold else pair for pair, hold in zip(banded, holds, strict=True)]


def _holds(field: FieldEvidence, stopped: Collection[str], uncertified: Collection[str]) -> list[Reason]:
    """Return for which reasons nothing of a field is stored unseen; none where it has no value."""
    path = column_path(field.field_path)
    held = {Reason.STOPPED_BY_MONITOR: stopped, Reason.NOT_CERTIFIED: uncertified}
    return [reason for reason, paths in held.items() if field.has_value and path in paths]


def _held(band: Band, reasons: tuple[Reason, ...], holds: Sequence[Reason]) -> tuple[Band, tuple[Reason, ...]]:
    # What was only fairly sure has a reason that says no more than that; it is not why a person looks.
    doubts = reasons if band is Band.REVIEW else ()
    return Band.REVIEW, in_order([*doubts, *holds])


def _unproven(band: Band, reasons: tuple[Reason, ...]) -> tuple[Band, tuple[Reason, ...]]:
    return max(band, Band.SAMPLED), in_order([*reasons, Reason.ENGINE_NOT_PROVEN])


def _band(field: FieldEvidence, limits: Thresholds, faults: Sequence[Reason]) -> tuple[Band, tuple[Reason, ...]]:
    doubts = [*faults, *map(reason_for_finding, field.findings)]
    if not field.has_value and field.is_required:
        doubts.append(Reason.MISSING_VALUE)
    # Written so that NaN, for which every comparison is false, lands on the side of the missing.
    confidence = field.confidence if field.confidence is not None and 0 <= field.confidence <= 1 else None
    if confidence is None and field.has_value:
        doubts.append(Reason.MISSING_CONFIDENCE)
    if confidence is not None and limits.is_doubtful(confidence):
        doubts.append(Reason.LOW_CONFIDENCE)
    if doubts:
        return Band.REVIEW, in_order(doubts)
    if confidence is None:
        return Band.SAMPLED, (Reason.MISSING_VALUE,)
    if limits.auto is None or confidence < limits.auto:
        return Band.SAMPLED, (Reason.LOW_CONFIDENCE,)
    return Band.AUTO, ()
