"""What is planted into the answer about a slip is wrong, in one field, in the way in which it is called."""

import pytest

from inference.fields.normalise import comparable
from tests.bench.planting import KINDS, is_another_value
from tests.slips.drawing import FIELDS, Slip, make_slip
from tests.slips.planting import FIELDS_A_KIND, SPEC, planted, printed

SLIPS = [make_slip(number) for number in range(12)]
OTHERS = [printed(slip) for slip in SLIPS]
PATHS = [f"/{name}" for name in FIELDS]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: str(slip.number))
def test_each_kind_of_error_is_planted_into_some_fields(slip: Slip) -> None:
    made = planted(slip, PATHS, OTHERS, 0)
    for kind in KINDS:
        its = [path for other, path, _ in made if other == kind]
        assert len(its) == len(set(its)) == FIELDS_A_KIND


def test_what_is_planted_is_wrong_and_of_its_kind() -> None:
    for slip in SLIPS:
        text = "\n".join(slip.lines)
        for kind, path, value in planted(slip, PATHS, OTHERS, 0):
            spec = SPEC.spec_of(path)
            assert spec is not None
            truth = slip.values[path[1:]]
            assert is_another_value(spec, value, truth)
            if kind == "wrong digit":
                assert sum(one != other for one, other in zip(value, truth, strict=True)) == 1
            elif kind == "swapped value":
                assert value in text
            elif kind == "truncated value":
                assert value in truth
            else:
                assert value not in text
                assert comparable(value, spec.value_type, spec.locale) not in text


def test_nothing_is_planted_where_the_model_was_wrong_already() -> None:
    assert {path for _, path, _ in planted(SLIPS[0], ["/net"], OTHERS, 0)} == {"/net"}
    assert planted(SLIPS[0], [], OTHERS, 0) == []
