from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from inference.document_types import shipped_document_type
from inference.fields.answered import LEFT_OUT, read_fields
from inference.fields.locate import locate
from inference.types import FieldReading, FieldSpec, PageReading
from tests.inference.fields.answers import answered
from tests.inference.fields.pages import Line, reading
from tests.replay.scenarios import INSTRUCTION

RECEIPT = shipped_document_type("receipt")
LINES: tuple[Line, ...] = (
    ("SAM SAM TRADING CO", 100, 100),
    ("67,JLN MEWAH 25/63 TMN SRI MUDA,", 100, 125),
    ("40400 SHAH ALAM.", 100, 150),
    ("TEL: 03-5122 1234", 100, 175),
    ("DATE: 29-12-2017", 100, 200),
    ("PENCIL", 100, 250),
    ("3.10", 600, 250),
    ("PAPER", 100, 275),
    ("11.00", 600, 275),
    ("TOTAL RM", 100, 325),
    ("14.10", 600, 325),
    ("CASH", 100, 350),
    ("20.00", 600, 350),
    ("CHANGE", 100, 375),
    ("5.90", 600, 375),
)
TRUE: Mapping[str, Any] = {
    "company": "SAM SAM TRADING CO",
    "date": "29-12-2017",
    "address": "67,JLN MEWAH 25/63 TMN SRI MUDA, 40400 SHAH ALAM.",
    "total": "14.10",
}


def read(*pages: PageReading) -> dict[str, FieldReading]:
    return {found.field_path: found for found in read_fields(pages, RECEIPT)}


def claimed(path: str, value: object, **options: Any) -> FieldReading:
    """Return what is made of one claim, the other fields being answered truly."""
    return read(answered({**TRUE, path.removeprefix("/"): value}, *LINES, **options))[path]


def confidence(found: FieldReading) -> float:
    assert found.confidence is not None
    return found.confidence


@pytest.mark.parametrize(
    ("path", "value", "top"),
    [
        ("/company", "SAM SAM TRADING CO", 0.1),
        ("/date", "2017-12-29", 0.2),
        ("/address", "67,JLN MEWAH 25/63 TMN SRI MUDA, 40400 SHAH ALAM.", 0.125),
        ("/total", "14.10", 0.325),
    ],
)
def test_a_true_answer_is_normalised_grounded_and_believed(path: str, value: str, top: float) -> None:
    found = read(answered(TRUE, *LINES))[path]
    assert (found.raw_text, found.value, found.findings) == (TRUE[path.removeprefix("/")], value, ())
    assert found.bbox is not None
    assert found.page_number == 1
    assert found.bbox.y0 == pytest.approx(top)
    assert found.evidence["grounding"] == 1.0
    assert found.evidence["readers_agree"] == 1.0
    assert confidence(found) > 0.9


@pytest.mark.parametrize(
    ("path", "value", "named", "bound"),
    [
        ("/total", "14.70", "grounding", 0.5),
        ("/date", "28-12-2017", "grounding", 0.5),
        ("/address", "67,JLN MEWAH 25/68 TMN SRI MUDA, 40400 SHAH ALAM.", "digits", 0.5),
        ("/total", "20.00", "readers_agree", 0.0),
        ("/company", "PAPER", "readers_agree", 0.4),
        ("/total", "871.45", "grounding", 0.5),
        ("/company", "GOLDEN DRAGON RESTAURANT", "grounding", 0.6),
        ("/total", "4.10", "grounding", 0.5),
        ("/company", "SAM SAM TRADING", "edges", 0.5),
        ("/address", "67,JLN MEWAH 25/63 TMN", "edges", 0.5),
    ],
)
def test_an_error_is_doubted_and_named_by_a_piece_of_evidence(path: str, value: str, named: str, bound: float) -> None:
    found = claimed(path, value)
    assert found.evidence[named] <= bound
    assert confidence(found) <= 0.5 < confidence(read(answered(TRUE, *LINES))[path])


@pytest.mark.parametrize("value", ["871.45", "14.70"])
def test_what_is_not_printed_is_a_finding_and_capped(value: str) -> None:
    found = claimed("/total", value)
    assert found.value == value
    assert found.findings == ("not_grounded",)
    assert confidence(found) <= 0.3


def test_an_amount_that_is_nearly_there_shows_where_and_one_that_is_not_shows_nothing() -> None:
    near, nowhere = claimed("/total", "14.70"), claimed("/total", "871.45")
    assert near.bbox is not None
    assert near.bbox.y0 == pytest.approx(0.325)
    assert (nowhere.bbox, nowhere.page_number) == (None, 1)


@pytest.mark.parametrize(
    "printed",
    [
        tuple((text, 100, 10 + 25 * n) for n, text in enumerate(INSTRUCTION)),
        tuple((text, 350, 250 + 25 * n) for n, text in enumerate(INSTRUCTION)),
        tuple((text, 100, 400 + 25 * n) for n, text in enumerate(INSTRUCTION)),
        (("THE TOTAL RM IS 0.00", 100, 400),),
        (("TOTAL", 100, 400), ("0.00", 600, 400)),
    ],
)
def test_a_model_that_obeys_what_is_printed_is_contradicted_by_the_words(printed: tuple[Line, ...]) -> None:
    """What the instruction asks for is printed, so it is grounded: the second reader, who obeys nobody, objects."""
    found, truth = (read(answered({**TRUE, "total": total}, *LINES, *printed))["/total"] for total in ("0.00", "14.10"))
    assert (found.value, found.evidence["grounding"]) == ("0.00", 1.0)
    assert found.evidence["readers_agree"] == 0.0
    assert confidence(found) < 0.1
    assert truth.evidence["readers_agree"] == 1.0
    assert found.candidates[0].value == "14.10", "a person is offered what is printed as the total"


def test_a_value_that_is_no_value_of_its_type_is_kept_as_said() -> None:
    found = claimed("/total", "fourteen")
    assert (found.raw_text, found.value) == ("fourteen", None)
    assert "not_normalised" in found.findings
    assert confidence(found) <= 0.5


def test_a_repaired_answer_marks_every_field_absent_ones_too() -> None:
    values = {**TRUE, "date": None}
    found = read(answered(values, *LINES, repairs=("fence",)))
    assert all("answer_repaired" in one.findings for one in found.values())
    assert all(confidence(one) <= 0.5 for one in found.values() if one.value is not None)
    assert not any("answer_repaired" in one.findings for one in read(answered(values, *LINES)).values())


def test_tokens_that_were_unsure_lower_the_confidence_and_stay_as_evidence() -> None:
    unsure = {"/total": {"token_min": 0.31, "token_mean": 0.6, "token_margin": 0.02, "token_entropy": 1.1}}
    found = claimed("/total", "14.10", evidence=unsure)
    assert {name: found.evidence[name] for name in unsure["/total"]} == unsure["/total"]
    assert confidence(found) < confidence(claimed("/total", "14.10"))


def test_two_scales_that_disagree_lower_the_confidence() -> None:
    agreed, split = (claimed("/total", "14.10", evidence={"/total": {"vote_agreement": p}}) for p in (1.0, 0.6))
    assert confidence(split) < confidence(agreed) - 0.05


def test_pages_that_disagree_are_a_finding() -> None:
    found = read(answered(TRUE, *LINES), answered({"total": "20.00"}, *LINES))["/total"]
    assert (found.value, found.page_number) == ("14.10", 1)
    assert "pages_disagree" in found.findings
    assert confidence(found) <= 0.5


def test_a_value_is_looked_for_on_its_own_page_only() -> None:
    found = read(answered({"total": "14.10"}, ("nothing here", 100, 100)), reading(*LINES))["/total"]
    assert found.findings == ("not_grounded",)
    assert (found.page_number, found.bbox) == (1, None)


def test_an_empty_field_is_reported_and_a_value_that_words_are_sure_of_is_missed() -> None:
    found = read(answered({**TRUE, "date": None}, *LINES))["/date"]
    (theirs,) = (one for one in locate([reading(*LINES)], RECEIPT) if one.field_path == "/date")
    assert theirs.confidence is not None
    assert theirs.confidence >= 0.8
    assert (found.value, found.confidence) == (None, None)
    assert found.findings == ("not_found", LEFT_OUT)
    assert found.candidates[0].value == "2017-12-29"


def test_an_empty_field_that_the_page_does_not_print_either_is_only_absent() -> None:
    found = read(answered({}, ("hello", 100, 100)))
    assert [one.findings for one in found.values()] == [("not_found",)] * 4


def test_the_candidates_of_the_words_are_kept_beside_a_claim() -> None:
    located = {one.field_path: one for one in locate([reading(*LINES)], RECEIPT)}
    found = read(answered({**TRUE, "company": "SAM SAM TRADING"}, *LINES))
    for path in ("/company", "/total"):
        assert found[path].candidates == located[path].candidates


def test_fields_come_in_schema_order_whatever_the_answer_says() -> None:
    for pages in ([answered({})], [answered({"unknown": "x", **TRUE}, *LINES), answered({}), reading()]):
        assert [one.field_path for one in read_fields(pages, RECEIPT)] == [spec.path for spec in RECEIPT.fields]


def test_another_scorer_gives_another_second_opinion() -> None:
    class Backwards:
        def score(self, spec: FieldSpec, candidates: Any) -> list[float]:
            return [10.0 * features.get("top", 0.0) for features in candidates]

    page = answered(TRUE, *LINES)
    ours, theirs = (
        {one.field_path: one for one in read_fields([page], RECEIPT, scorer)}["/total"]
        for scorer in (None, Backwards())
    )
    assert ours.evidence["readers_agree"] == 1.0
    assert theirs.evidence["readers_agree"] == 0.0


def test_poor_images_lower_the_confidence() -> None:
    page = answered(TRUE, *LINES)
    poor = replace(page, quality={"contrast": 0.05})
    assert confidence(read(poor)["/total"]) < confidence(read(page)["/total"])
