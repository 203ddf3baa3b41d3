"""Made-up examples of one amount: the prior likes every candidate alike, the right one is low on the page."""

from collections.abc import Sequence
from random import Random

from inference.types import ValueType
from review.learning.examples import FieldExample, field_example
from tests.inference.fields.pages import field
from tests.review.taught import candidate

TOTAL = field(ValueType.AMOUNT, path="/total", is_required=True)


def lowest_is_right(n: int, *, seed: int = 1, share_right: float = 1.0) -> list[FieldExample]:
    """Examples in which the right amount is the lowest on the page, in a share of them; else any of them is."""
    random = Random(seed)
    return [_example(str(number), random, is_lowest=random.random() < share_right) for number in range(n)]


def _example(document: str, random: Random, *, is_lowest: bool) -> FieldExample:
    heights = sorted((random.uniform(0.1, 0.9) for _ in range(5)), reverse=True)
    stored = [candidate(f"{10 + row}.00", row, top=height) for row, height in enumerate(heights)]
    right = 14 if is_lowest else random.randrange(10, 15)
    return field_example(document, TOTAL, stored, f"{right}.00")


def scores_of(examples: Sequence[FieldExample]) -> list[list[float]]:
    """The prior's scores of each example."""
    return [one.prior.tolist() for one in examples]
