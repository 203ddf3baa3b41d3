"""Engine versions: which one is meant, what it was declared as or composed of, and whether it has proven itself."""

from collections.abc import Collection, Mapping

from django.db.models import QuerySet

from inference.types import VlmSpec
from review.exceptions import ConflictError, NotFoundError
from review.models import EngineVersion, SelfTest

SHORTEST_PREFIX = 8
_MAX_ID = 2**63 - 1
IMPORTED_FROM = "imported_from"
TRAINING_FILE = "training.json"
"""What `inference.training` tells of itself, beside the weights that it made."""


def declared_engine_versions() -> QuerySet[EngineVersion]:
    """Return the versions that were declared (language models), newest first; others are facts about what has read."""
    return EngineVersion.objects.filter(spec__has_key="kind").order_by("-pk")


def access_engine_version(reference: str) -> EngineVersion:
    """Return the engine version of this id, or whose digest begins so (8 letters or more).

    Raise NotFoundError where there is none, ConflictError where several begin so.
    """
    if reference.isdecimal() and int(reference) <= _MAX_ID:
        by_id = EngineVersion.objects.filter(pk=int(reference)).first()
        if by_id is not None:
            return by_id
    if len(reference) < SHORTEST_PREFIX:
        raise NotFoundError
    found = list(EngineVersion.objects.filter(digest__startswith=reference.lower())[:2])
    if not found:
        raise NotFoundError
    if len(found) > 1:
        raise ConflictError
    return found[0]


def base_of(version: EngineVersion) -> EngineVersion:
    """Return the version that reads the pages: of a composed version its base, else the version itself."""
    return version if version.base_id is None or version.base is None else version.base


def base_id_of(version: EngineVersion) -> int:
    """Return the id of the version that reads the pages, under which readings and answers are kept."""
    return version.base_id or version.pk


def evidence_version(version: EngineVersion) -> EngineVersion:
    """Return the version without its calibrator: whose evidence a calibrator is bound to."""
    return evidence_versions([version])[version.pk]


def evidence_versions(versions: Collection[EngineVersion]) -> Mapping[int, EngineVersion]:
    """Return `evidence_version` of each, by its id; one query at most, where the calibrators' trainings are at hand."""
    found: dict[int, EngineVersion] = {}
    unknown: list[EngineVersion] = []
    for version in versions:
        if version.calibrator_id is None:
            found[version.pk] = version
        elif version.locator_id is None:
            found[version.pk] = base_of(version)
        elif (learned_on := _learned_on_same_evidence(version)) is not None:
            found[version.pk] = learned_on
        else:
            unknown.append(version)
    if unknown:
        of_locator = EngineVersion.objects.filter(locator__in={one.locator_id for one in unknown}, calibrator=None)
        known = {(one.base_id, one.locator_id): one for one in of_locator.select_related("base")}
        found |= {one.pk: known[one.base_id, one.locator_id] for one in unknown}
    return found


def _learned_on_same_evidence(version: EngineVersion) -> EngineVersion | None:
    """Return the version on which the calibrator was learned, None where it is not the one that it stands on here."""
    run = version.calibrator.training_run if version.calibrator is not None else None
    learned_on = run.base if run is not None else None
    if learned_on is None or learned_on.calibrator_id is not None:
        return None
    is_same = (learned_on.base_id, learned_on.locator_id) == (version.base_id, version.locator_id)
    return learned_on if is_same else None


def is_declared(version: EngineVersion) -> bool:
    """Whether a language model reads the pages, from whose specification an engine can be built."""
    return "kind" in base_of(version).spec


def is_profiled(version: EngineVersion) -> bool:
    """Whether an OCR engine reads the pages as a manager declared it: it can be built beside the house's own."""
    return "profile" in base_of(version).spec


def vlm_spec_of(version: EngineVersion) -> VlmSpec | None:
    """Return what a language model's version was declared as, None for the version of an OCR engine."""
    return VlmSpec.from_json(base_of(version).spec) if is_declared(version) else None


def newest_self_test(version: EngineVersion) -> SelfTest | None:
    """Return what came of trying out last what reads the pages."""
    return SelfTest.objects.filter(engine_version=base_id_of(version)).order_by("-pk").first()


def is_taught(version: EngineVersion) -> bool:
    """Whether the language model may have learned from this house's documents: by an adapter, or by `finetune --merge`.

    The latter leaves its account among the weights that the version pins.
    """
    spec = base_of(version).spec
    return bool(spec.get("adapter_folder")) or TRAINING_FILE in spec.get("weights_sha256", {})


def is_foreign(version: EngineVersion) -> bool:
    """Whether the version is a program that is not ours, whose readings came with the documents."""
    return IMPORTED_FROM in version.spec


def is_proven(version: EngineVersion) -> bool:
    """Whether values of this version may be stored for sure.

    An OCR engine needs no proof: it gives words and cannot invent values. A language model needs a passed self-test,
    its last one. What came from a program that is not ours never is: nobody here knows what its confidences mean.
    """
    if is_foreign(version):
        return False
    if not is_declared(version):
        return True
    test = newest_self_test(version)
    return test is not None and test.is_passed
