import io

import pytest
from django.core.management import CommandError, call_command

from review.actions.engines import declare_engine_version, record_self_test
from review.models import AuditEntry
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.vlm import SPEC


def use(cast: Cast, *options: str) -> str:
    printed = io.StringIO()
    call_command("use_engine", "--project", "receipts", *options, stdout=printed)
    cast.project.refresh_from_db()
    return printed.getvalue()


def test_a_version_is_set_by_the_beginning_of_its_digest(cast: Cast) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    said = use(cast, "--engine-version", version.digest[:12])
    assert cast.project.engine_version == version
    assert str(version) in said
    assert AuditEntry.objects.get(action="project.engine_set").actor_label == "system"


def test_what_an_unproven_version_means_is_said_with_the_remedy(cast: Cast) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    assert f"probe_engine --engine-version {version.pk}" in use(cast, "--engine-version", str(version.pk))
    record_self_test(actor=SYSTEM, engine_version=version, report={}, is_passed=True)
    assert "probe_engine" not in use(cast, "--engine-version", str(version.pk))


def test_an_ocr_engine_and_that_of_the_house_are_set_by_name(cast: Cast) -> None:
    use(cast, "--engine-version", str(declare_engine_version(actor=SYSTEM, spec=SPEC).pk))
    use(cast, "--engine", "rapidocr")
    assert (cast.project.engine_version, cast.project.engine_name) == (None, "rapidocr")
    assert "of the house" in use(cast, "--house")
    assert (cast.project.engine_version, cast.project.engine_name) == (None, "")


@pytest.mark.parametrize("name", ["rapidocrr", "vllm_server"])
def test_an_engine_that_does_not_read_by_itself_is_refused_with_those_that_do(cast: Cast, name: str) -> None:
    with pytest.raises(CommandError, match="rapidocr"):
        use(cast, "--engine", name)
    assert cast.project.engine_name == ""


def test_the_version_of_an_ocr_engine_is_refused(cast: Cast) -> None:
    ocr = factories.make_engine_version("rapidocr")
    with pytest.raises(CommandError, match="engine's name instead: rapidocr"):
        use(cast, "--engine-version", str(ocr.pk))


@pytest.mark.parametrize("options", [(), ("--house", "--engine", "rapidocr")])
def test_exactly_one_choice_is_made(cast: Cast, options: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        use(cast, *options)
