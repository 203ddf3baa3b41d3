"""The targets page's rows: what is promised per field, what the labels carry, and whether it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.formats import localize
from django.utils.translation import gettext, gettext_lazy, ngettext

from review.exceptions import InvalidInputError
from review.models import DocumentType, EngineVersion, FieldCertificate, FieldMonitor, FieldTarget
from review.selectors.document_types import active_policy
from review.selectors.rollouts import champion_of
from review.selectors.targets import monitors_for, newest_certificates, targets_for, uncertified_paths
from review.selectors.what_if import parse_rules
from review.web.policy_view import field_paths

FALLBACK_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One field: its target, the newest certificate and the monitor, each None where there is none.

    `wrong` and `confidence` are what stands in the form, in percent. `is_uncertified`: what reads now is not what the
    certificate is of, or the limits in force are looser, so nothing is stored unseen.
    """

    path: str
    label: str
    target: FieldTarget | None
    certificate: FieldCertificate | None
    monitor: FieldMonitor | None
    wrong: str
    confidence: str
    is_uncertified: bool

    @property
    def is_stopped(self) -> bool:
        """Whether the field is not stored unseen, since too much of it was wrong."""
        return self.monitor is not None and self.monitor.is_tripped

    @property
    def is_outdated(self) -> bool:
        """Whether the certificate is of another target than the one in force."""
        one, target = self.certificate, self.target
        if one is None or target is None:
            return False
        return (one.target, one.confidence) != (target.wrong_share, target.confidence)

    @property
    def is_carried(self) -> bool:
        """Whether the labels carry the target as it stands."""
        return (
            self.certificate is not None
            and self.certificate.threshold is not None
            and not (self.is_outdated or self.is_uncertified)
        )

    @property
    def carried(self) -> str:
        """Return what the newest certificate says."""
        if self.certificate is None:
            return gettext("Nothing is certified yet. Draft a policy from the targets.")
        return certificate_in_words(self.certificate)

    @property
    def watched(self) -> str:
        """Return what the monitor has seen."""
        if self.monitor is None:
            return ""
        n, n_wrong = self.monitor.state["n_documents"], self.monitor.state["n_wrong"]
        if not n:
            return gettext("nothing audited yet")
        text = ngettext("%(n)s audited document, %(wrong)s wrong", "%(n)s audited documents, %(wrong)s wrong", n)
        return text % {"n": localize(n), "wrong": localize(n_wrong)}


@dataclass(frozen=True, slots=True)
class TargetsPage:
    """All that the page shows of one document type."""

    rows: list[TargetRow]
    reads: EngineVersion | None

    @property
    def n_targets(self) -> int:
        """How many fields have a target."""
        return sum(row.target is not None for row in self.rows)

    @property
    def n_carried(self) -> int:
        """How many of them the labels carry."""
        return sum(row.target is not None and row.is_carried for row in self.rows)

    @property
    def stopped(self) -> list[TargetRow]:
        """The fields that are stopped."""
        return [row for row in self.rows if row.is_stopped]


def targets_page(document_type: DocumentType, typed: QueryDict | None = None) -> TargetsPage:
    """Return the page of a type; `typed` is a form that was refused, whose words stay in it."""
    targets = {one.field_path: one for one in targets_for(document_type)}
    certificates = newest_certificates(document_type)
    monitors = {one.field_path: one for one in monitors_for(document_type)}
    reads, active = champion_of(document_type), active_policy(document_type)
    rules = active[1] if active is not None else parse_rules({})
    uncertified = uncertified_paths(document_type, reads.pk, rules) if reads is not None else frozenset()
    rows = []
    for path, label, _cost in field_paths(document_type):
        target = targets.get(path)
        wrong = _percent(target.wrong_share) if target is not None else ""
        confidence = _percent(target.confidence if target is not None else FALLBACK_CONFIDENCE)
        if typed is not None and typed.get("field_path") == path:
            wrong, confidence = typed.get("wrong", ""), typed.get("confidence", "")
        known = certificates.get(path) if target is not None else None
        row = TargetRow(path, label, target, known, monitors.get(path), wrong, confidence, path in uncertified)
        rows.append(row)
    return TargetsPage(rows, reads)


def certificate_in_words(one: FieldCertificate) -> str:
    """Return what the labels carry, in plain words."""
    if one.threshold is None:
        return _not_automated(one)
    text = gettext(
        "From confidence %(threshold)s on, %(stored)s of %(frame)s values would be stored unseen; with confidence "
        "%(sure)s %% at most %(limit)s %% of them are wrong (%(n)s tried, %(wrong)s wrong)."
    )
    return text % {
        "threshold": localize(round(one.threshold, 4)),
        "stored": localize(one.n_stored),
        "frame": localize(one.n_frame),
        "sure": _said(one.confidence),
        # Rounded up: a bound is never said to be better than it is.
        "limit": _said(-(-one.upper_limit * 10_000 // 1) / 10_000),
        "n": localize(one.n_trials),
        "wrong": localize(one.n_wrong),
    }


def _not_automated(one: FieldCertificate) -> str:
    if one.n_more_needed is None:
        return gettext("Not automated: with as many errors as were found, no number of examined values will do.")
    text = ngettext(
        "Not automated: about %(n)s more examined value is needed.",
        "Not automated: about %(n)s more examined values are needed.",
        one.n_more_needed,
    )
    return text % {"n": localize(one.n_more_needed)}


_NAMES: Mapping[str, object] = {
    "/wrong_share": gettext_lazy("share that may be wrong"),
    "/confidence": gettext_lazy("confidence"),
}


def target_in(data: QueryDict) -> tuple[float, float]:
    """Return wrong share and confidence, said in percent; raise InvalidInputError for what is no number."""
    shares, problems = {}, []
    for name, key in (("wrong_share", "wrong"), ("confidence", "confidence")):
        try:
            # Of a binary fraction more digits would come than were typed.
            shares[name] = round(float(data.get(key, "")) / 100, 10)
        except ValueError:
            problems.append({"pointer": f"/{name}", "message": gettext("Give a number in percent.")})
    if problems:
        raise InvalidInputError(details={"problems": problems})
    return shares["wrong_share"], shares["confidence"]


def problem_in_words(problem: Mapping[str, str], label: str) -> str:
    """Return what is wrong with a target: of which field, which number, what."""
    name = _NAMES.get(problem["pointer"])
    return f"{label}, {name}: {problem['message']}" if name else f"{label}: {problem['message']}"


def _percent(share: float) -> str:
    return f"{round(share * 100, 6):g}"


def _said(share: float) -> str:
    percent = round(share * 100, 2)
    return str(localize(int(percent) if percent == int(percent) else percent))
