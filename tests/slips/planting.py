"""Errors planted into what a reader answered about a slip: one field wrong in each answer, as printed elsewhere."""

import random
from collections.abc import Mapping, Sequence

from inference.fields.normalise import TYPED, find_values
from inference.types import BBox, FieldSpec, PageReading, Word, parse_document_type
from tests.bench.planting import KINDS, Plant, Truth, is_another_value
from tests.slips.asking import SCHEMA
from tests.slips.drawing import FIELDS, Slip

SPEC = parse_document_type(SCHEMA)
FIELDS_A_KIND = 2
"""So many fields of a slip have an error of each kind, one answer each."""


def printed(slip: Slip) -> Truth:
    """Return what is really printed on a slip, in the form in which errors are planted."""
    box = BBox(0.0, 0.0, 1.0, 1.0)
    words = tuple(Word(line, box, 1.0) for line in slip.lines)
    return Truth(str(slip.number), PageReading(1, 1, words, 0.0), {f"/{name}": slip.values[name] for name in FIELDS})


def plant_swapped_value(spec: FieldSpec, truth: Truth, others: Sequence[Truth], rng: random.Random) -> str | None:
    """Return another value of the slip, as it is printed there; for a name, another line."""
    if spec.value_type not in TYPED:
        return KINDS["swapped value"](spec, truth, others, rng)
    lines = [word.text for word in truth.reading.words]
    found = [line[one.start : one.end] for line in lines for one in find_values(line, spec.value_type, spec.locale)]
    wanted = [text for text in dict.fromkeys(found) if is_another_value(spec, text, truth.values[spec.path])]
    return rng.choice(wanted) if wanted else None


SLIP_KINDS: Mapping[str, Plant] = {**KINDS, "swapped value": plant_swapped_value}


def planted(slip: Slip, paths: Sequence[str], others: Sequence[Truth], seed: int) -> list[tuple[str, str, str]]:
    """Return (kind, field path, wrong value) for some of the fields in `paths`."""
    rng = random.Random(f"{seed} {slip.number}")
    truth = printed(slip)
    found = []
    for kind, plant in SLIP_KINDS.items():
        specs = [spec for spec in SPEC.fields if spec.path in paths]
        made = [(kind, spec.path, plant(spec, truth, others, rng)) for spec in rng.sample(specs, len(specs))]
        found += [(kind, path, value) for kind, path, value in made if value is not None][:FIELDS_A_KIND]
    return found
