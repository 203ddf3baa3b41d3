"""Engine versions: which one is meant, what it was declared as, and whether it has proven itself."""

from django.db.models import QuerySet

from inference.types import VlmSpec
from review.exceptions import ConflictError, NotFoundError
from review.models import EngineVersion, SelfTest

SHORTEST_PREFIX = 8
_MAX_ID = 2**63 - 1


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


def is_declared(version: EngineVersion) -> bool:
    """Whether the version is a language model's, from whose specification an engine can be built."""
    return "kind" in version.spec


def vlm_spec_of(version: EngineVersion) -> VlmSpec | None:
    """Return what a language model's version was declared as, None for the version of an OCR engine."""
    return VlmSpec.from_json(version.spec) if is_declared(version) else None


def newest_self_test(version: EngineVersion) -> SelfTest | None:
    """Return what came of trying the version out last."""
    return SelfTest.objects.filter(engine_version=version).order_by("-pk").first()


def is_proven(version: EngineVersion) -> bool:
    """Whether values of this version may be stored for sure.

    An OCR engine needs no proof: it gives words and cannot invent values. A language model needs a passed self-test,
    its last one.
    """
    if not is_declared(version):
        return True
    test = newest_self_test(version)
    return test is not None and test.is_passed
