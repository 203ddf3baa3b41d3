"""Language models are declared once, tried out, and set to read for a project."""

from dataclasses import replace

import pytest

from inference.types import ImagingProfile
from review.actions.engines import declare_engine_version, record_self_test, use_engine
from review.exceptions import InvalidInputError
from review.models import AuditEntry, EngineVersion, SelfTest
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor
from tests.review.vlm import SPEC

pytestmark = pytest.mark.django_db


def test_a_version_is_declared_once_however_often(cast: Cast) -> None:
    first = declare_engine_version(actor=actor(cast.admin), spec=SPEC)
    again = declare_engine_version(actor=SYSTEM, spec=SPEC)
    assert first == again
    assert (first.name, first.spec) == ("vllm_server", SPEC.as_json())
    entry = AuditEntry.objects.get(action="engine_version.declared")
    assert (entry.actor, entry.detail) == (cast.admin, {"name": "vllm_server", "digest": first.digest})


def test_any_change_of_the_specification_is_another_version() -> None:
    others = [
        replace(SPEC, prompt_version="v2"),
        replace(SPEC, chat_template_sha256="c" * 64),
        replace(SPEC, weights_sha256={"model.safetensors": "b" * 64}),
        replace(SPEC, imaging=ImagingProfile(max_pixels=1)),
        replace(SPEC, server_flags={"max-model-len": 4096}),
        replace(SPEC, kind="vllm_offline"),
    ]
    versions = {declare_engine_version(actor=SYSTEM, spec=spec).digest for spec in [SPEC, *others]}
    assert len(versions) == 7


def test_a_version_outlives_its_declaration_unchanged() -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    assert SPEC.from_json(EngineVersion.objects.get(pk=version.pk).spec) == SPEC


def test_every_self_test_is_kept(cast: Cast) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    for is_passed in (True, False):
        record_self_test(actor=actor(cast.admin), engine_version=version, report={"checks": [1]}, is_passed=is_passed)
    assert list(SelfTest.objects.order_by("pk").values_list("is_passed", flat=True)) == [True, False]
    assert SelfTest.objects.first().report == {"checks": [1]}  # type: ignore[union-attr]
    entries = AuditEntry.objects.filter(action="self_test.recorded").order_by("pk")
    assert [entry.detail["is_passed"] for entry in entries] == [True, False]


def test_a_project_reads_with_a_version_or_with_an_engine(cast: Cast) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    use_engine(actor=actor(cast.admin), project=cast.project, engine_version=version)
    cast.project.refresh_from_db()
    assert (cast.project.engine_version, cast.project.engine_name) == (version, "")
    use_engine(actor=actor(cast.admin), project=cast.project, engine_name="rapidocr")
    cast.project.refresh_from_db()
    assert (cast.project.engine_version, cast.project.engine_name) == (None, "rapidocr")
    details = [entry.detail for entry in AuditEntry.objects.filter(action="project.engine_set").order_by("pk")]
    assert details == [
        {"engine_version": version.digest, "engine": ""},
        {"engine_version": "", "engine": "rapidocr"},
    ]


def test_a_version_and_a_name_together_are_refused(cast: Cast) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    with pytest.raises(InvalidInputError):
        use_engine(actor=SYSTEM, project=cast.project, engine_version=version, engine_name="rapidocr")
    cast.project.refresh_from_db()
    assert cast.project.engine_version is None


def test_the_version_of_an_ocr_engine_cannot_be_had_again(cast: Cast) -> None:
    ocr = factories.make_engine_version("rapidocr")
    with pytest.raises(InvalidInputError) as refused:
        use_engine(actor=SYSTEM, project=cast.project, engine_version=ocr)
    (problem,) = refused.value.details["problems"]
    assert problem["pointer"] == "/engine_version"
    assert "rapidocr" in str(problem["message"])
