"""Language models are declared, tried out, and set to read for a project."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from inference.types import VlmSpec
from review.actions._audit import record_audit
from review.actions._pages import EngineIdentity, ensure_engine_version
from review.exceptions import InvalidInputError
from review.models import EngineVersion, Project, SelfTest
from review.selectors.access import Actor
from review.selectors.engines import is_declared


def declare_engine_version(*, actor: Actor, spec: VlmSpec) -> EngineVersion:
    """Freeze a language model's specification under its digest; declaring the same again changes nothing."""
    return _declared(actor, EngineIdentity.of(spec.kind, spec.as_json()))


def declare_ocr_version(*, actor: Actor, identity: EngineIdentity) -> EngineVersion:
    """Freeze an OCR engine with another profile as a version; declaring the same again changes nothing.

    `identity` is that of the engine as it was built: its profile with all that may change an answer.
    """
    return _declared(actor, identity)


def _declared(actor: Actor, identity: EngineIdentity) -> EngineVersion:
    with transaction.atomic(durable=True):
        is_known = EngineVersion.objects.filter(digest=identity.digest).exists()
        version = ensure_engine_version(identity)
        if not is_known:
            detail = {"name": version.name, "digest": version.digest}
            record_audit(actor, "engine_version.declared", version, project=None, detail=detail)
    return version


def register_taught(*, actor: Actor, base: EngineVersion, spec: VlmSpec, training: Mapping[str, Any]) -> EngineVersion:
    """Freeze what a training of `base` gave as an engine version of its own; it reads nothing until it is rolled out.

    `training` says what it was trained on and how, as JSON data without document text; it is kept with the act. The
    same weights again change nothing.
    """
    identity = EngineIdentity.of(spec.kind, spec.as_json())
    with transaction.atomic(durable=True):
        is_known = EngineVersion.objects.filter(digest=identity.digest).exists()
        version = ensure_engine_version(identity)
        if not is_known:
            detail = {"base": base.digest, "digest": version.digest, **training}
            record_audit(actor, "engine_version.fine_tuned", version, project=None, detail=detail)
    return version


def record_self_test(
    *, actor: Actor, engine_version: EngineVersion, report: Mapping[str, Any], is_passed: bool
) -> SelfTest:
    """Write down what came of trying an engine version out; `report` is plain JSON data without document text.

    From then on this result decides whether values of the version may be stored for sure.
    """
    with transaction.atomic(durable=True):
        test = SelfTest.objects.create(engine_version=engine_version, report=dict(report), is_passed=is_passed)
        detail = {"engine_version": engine_version.digest, "is_passed": is_passed}
        record_audit(actor, "self_test.recorded", test, project=None, detail=detail)
    return test


def use_engine(
    *, actor: Actor, project: Project, engine_version: EngineVersion | None = None, engine_name: str = ""
) -> Project:
    """Have a project's pages read by a declared engine version, or by the OCR engine of that name ("": the house's).

    Documents that are being read begin anew. Raise InvalidInputError when both are given, or for a version that was
    not declared: what an OCR engine was cannot be had again, and what was learned belongs to one document type.
    """
    if engine_version is not None and engine_name:
        raise InvalidInputError.at("/engine", _("Give an engine version or the name of an engine, not both."))
    if engine_version is not None and engine_version.base_id is not None:
        message = _("This version was learned for one document type. Roll it out for that type instead.")
        raise InvalidInputError.at("/engine_version", message)
    if engine_version is not None and not is_declared(engine_version):
        message = _("This is the version of an OCR engine. Give the engine's name instead: %(name)s.")
        raise InvalidInputError.at("/engine_version", message % {"name": engine_version.name})
    with transaction.atomic(durable=True):
        project.engine_version, project.engine_name = engine_version, engine_name
        project.save(update_fields=["engine_version", "engine_name"])
        detail = {"engine_version": engine_version.digest if engine_version else "", "engine": engine_name}
        record_audit(actor, "project.engine_set", project, project=project, detail=detail)
    return project
