import io
import json
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from review.actions.intake import receive_document
from review.models import Document
from review.selectors.access import SYSTEM
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.vlm import answering, read_with_vlm


def run(*options: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("backfill", "--project", "receipts", *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def take_in(cast: Cast, *texts: str) -> None:
    for text in texts:
        receive_document(
            actor=SYSTEM,
            project=cast.project,
            document_type=cast.document_type,
            file=ContentFile(picture(text)),
            filename=text,
        )


def test_it_says_how_far_it_has_come_and_how_it_ended(cast: Cast, script: Script) -> None:
    read_with_vlm(cast.project)
    script(default=answering())
    take_in(cast, "a", "b", "c")
    out, err = run("--batch", "2", "--type", "receipt", "--json")
    assert [line.split(":")[0] for line in err.splitlines()] == ["2 documents", "3 documents"]
    figures: dict[str, Any] = json.loads(out.splitlines()[-1])
    assert figures == {"n_documents": 3, "n_read": 3, "n_cached": 0, "n_failed": 0, "n_left_out": 0}
    assert "3 documents: 3 pages read" in out


def test_without_a_language_model_it_names_who_reads(cast: Cast, script: Script) -> None:
    take_in(cast, "a")
    with pytest.raises(CommandError, match="leave it to the workers"):
        run()
    assert Document.objects.get().status == "received"


@pytest.mark.parametrize("options", [["--batch", "0"], ["--type", "invoice"]])
def test_what_makes_no_sense_is_refused(cast: Cast, options: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*options)
