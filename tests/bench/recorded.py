"""How well a confidence tells right from wrong where a model wrote the answers: slips recorded with a real server.

A made-up model (`tests.slips.train_reader`) read drawn slips behind vLLM; the product's engine reads the recordings
again. Wrong are values that were planted into its answers, one a time, whose tokens the server then scored as they
stand; and, apart from those, what the model itself misread. No value that it wrote of its own accord has a token to
which it preferred another, and every planted one has: so log-probabilities are worth what the last column says.
"""

import argparse
import datetime
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.errors import AnswerError
from inference.fields.answer_score import FIELD_WEIGHTS, NOT_GROUNDED, losses
from inference.fields.cross_rules import cross_findings
from inference.fields.extract import extract
from inference.fields.score import CAPPED_BY_FINDING
from inference.serving.chat import chat_client
from inference.types import FieldReading, PageReading
from tests.bench import planted
from tests.bench.planted import CAUGHT_LIMIT, CLEAN, LIMIT, NAMED_BY, SURE, Judged, auroc
from tests.bench.planting import KINDS, is_another_value
from tests.bench.report import Budget, finish, ratio, table, write
from tests.replay.server import ReplayServer
from tests.slips.asking import asked
from tests.slips.drawing import draw
from tests.slips.planting import SPEC
from tests.slips.recordings import Recorded, load

OWN = "misread by the model"
SEED = 20261130
TODAY = datetime.date(2026, 11, 30)
RESAMPLES = 1000
TOKENS = frozenset({"token_min", "token_mean", "token_margin"})
RULE = "rule:tax_added"
PARTS: Mapping[str, frozenset[str]] = {**planted.PARTS, "log-probabilities": TOKENS, "rules": frozenset({RULE})}
# Beside what speaks against a value without tokens: a broken rule, a token to which another was preferred.
MORE_WEAK: Mapping[str, float] = {"rules": 1.0, "token_margin": 1e-9}


@dataclass(frozen=True, slots=True)
class Read:
    """One value of one answer about a slip. `kind` is what was done to it, or what the model did by itself."""

    document: str
    group: str
    judged: Judged

    @property
    def kind(self) -> str:
        return self.judged.kind

    @property
    def weak(self) -> frozenset[str]:
        """Names of the pieces of evidence that speak against the value."""
        evidence = self.judged.reading.evidence
        more = (name for name, bound in MORE_WEAK.items() if evidence.get(name, bound) < bound)
        return self.judged.weak | frozenset(more)

    @property
    def is_caught(self) -> bool:
        """Whether the value is doubted, with a piece of evidence against it that belongs to the error."""
        named = NAMED_BY[self.kind] | MORE_WEAK.keys()
        return self.judged.confidence <= CAPPED_BY_FINDING and bool(self.weak & named)


Score = Callable[[Read], float]


def confidence(one: Read) -> float:
    return one.judged.confidence


def tokens_alone(one: Read) -> float:
    """Return what the log-probabilities say for a value, and nothing else."""
    lost = losses(one.judged.reading.evidence, FIELD_WEIGHTS)
    return -sum(lost[name] for name in TOKENS)


def _without(pieces: frozenset[str]) -> Score:
    return lambda one: one.judged.without(pieces).confidence


SCORES: Mapping[str, Score] = {
    "everything": confidence,
    **{f"without {name}": _without(pieces) for name, pieces in PARTS.items()},
    "log-probabilities alone": tokens_alone,
}


def read_again(recorded: Recorded) -> list[Read]:
    """Read every recorded slip once more, as the product reads, and every planted answer: the wrong value alone."""
    exchanges = [
        exchange for one in recorded.slips for exchange in (*one.exchanges, *(bad.exchange for bad in one.planted))
    ]
    found: list[Read] = []
    serves = [recorded.spec.tied_name]
    with ReplayServer(exchanges, serves=serves) as replay, chat_client(replay.url) as client:
        engine = VlmEngine(recorded.spec, ServedModel(recorded.spec, client, first_wait_seconds=0))
        for one in recorded.slips:
            page, request, values = draw(one.slip), asked(one.truth.reading.words), one.truth.values
            try:
                fields = _fields(engine.read_page(page, request))
            except AnswerError:
                fields = ()
            found += [
                Read(one.truth.name, one.group, Judged(OWN if _is_wrong(field, values) else CLEAN, field))
                for field in fields
                if field.raw_text is not None
            ]
            for bad in one.planted:
                field = next(
                    field for field in _fields(engine.read_page(page, request)) if field.field_path == bad.path
                )
                found.append(Read(one.truth.name, one.group, Judged(bad.kind, field)))
    return found


def _fields(reading: PageReading) -> tuple[FieldReading, ...]:
    return cross_findings(extract([reading], SPEC), SPEC, TODAY)


def _is_wrong(field: FieldReading, values: Mapping[str, str]) -> bool:
    """Whether a value is not what is printed; what is no value of its type at all is wrong too."""
    spec = SPEC.spec_of(field.field_path)
    assert spec is not None
    return field.value is None or is_another_value(spec, field.raw_text or "", values[field.field_path])


def ranked(right: Sequence[Read], wrong: Sequence[Read], score: Score) -> float:
    """Return the chance that a right value has more than a wrong one."""
    return auroc([score(one) for one in right], [score(one) for one in wrong])


def interval(right: Sequence[Read], wrong: Sequence[Read], score: Score, n: int = RESAMPLES) -> tuple[float, float]:
    """Return where 95 in 100 of so many sets of documents lie that are drawn, with repetition, from these."""
    return _middle(resampled(right, wrong, score, n))


def gain(right: Sequence[Read], wrong: Sequence[Read], n: int = RESAMPLES) -> tuple[float, float]:
    """Return the same for what log-probabilities add to the rest, both measured on each set."""
    without = resampled(right, wrong, SCORES["without log-probabilities"], n)
    return _middle([one - other for one, other in zip(resampled(right, wrong, confidence, n), without, strict=True)])


def resampled(right: Sequence[Read], wrong: Sequence[Read], score: Score, n: int) -> list[float]:
    """Return how sets of documents rank that are drawn from these; the same sets for every score."""
    by_document: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for side, reads in enumerate((right, wrong)):
        for one in reads:
            by_document[one.document][side].append(score(one))
    documents = list(by_document.values())
    rng = random.Random(SEED)
    drawn = (rng.choices(documents, k=len(documents)) for _ in range(n))
    return [auroc([x for good, _ in some for x in good], [x for _, bad in some for x in bad]) for some in drawn]


def _middle(values: Sequence[float]) -> tuple[float, float]:
    kept = sorted(value for value in values if not math.isnan(value))
    return kept[int(0.025 * len(kept))], kept[int(0.975 * len(kept))]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="recorded", description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="use every so many of the slips")
    options = parser.parse_args(arguments)
    recorded = load()
    some = Recorded(recorded.spec, recorded.slips[:: options.every], recorded.figures)
    return report(read_again(some))


def report(reads: Sequence[Read]) -> int:
    """Print how each kind of error ranks below what is right, and what each part adds; return the exit status."""
    ordinary = [one for one in reads if one.group == "ordinary"]
    right = [one for one in ordinary if one.kind == CLEAN]
    wrong = [one for one in ordinary if one.kind in KINDS]
    all_right = [one for one in reads if one.kind == CLEAN]
    own = [one for one in reads if one.kind == OWN]
    budgets = [Budget("AUROC, right against planted", ranked(right, wrong, confidence), LIMIT, is_floor=True)]
    for kind in KINDS:
        its = [one for one in wrong if one.kind == kind]
        share = ratio(sum(one.is_caught for one in its), len(its))
        budgets.append(Budget(f"{kind}: caught by evidence of its own", share, CAUGHT_LIMIT, is_floor=True))
    parts = {name: dict(_columns(score, right, wrong, all_right, own)) for name, score in SCORES.items()}
    write(
        table(("ranked by", *PLACES), [(name, *(_shown(one) for one in its.values())) for name, its in parts.items()])
    )
    figures = {
        "n_documents": len({one.document for one in reads}),
        "n_misread": {group: sum(one.group == group for one in own) for group in ("ordinary", "worn")},
        "parts": parts,
        "gain_of_log_probabilities": [round(one, 4) for one in gain(all_right, own)] if own else [],
        "not_on_the_page": _not_on_the_page(all_right, own),
    }
    header = ("answers", "values", "AUROC", "caught", f"surer than {SURE}", "what speaks against how many of them")
    return finish("recorded", header, list(_rows(reads, right, all_right)), budgets, figures)


PLACES = ("right against planted", "right against misread")


def _columns(
    score: Score, right: Sequence[Read], wrong: Sequence[Read], all_right: Sequence[Read], own: Sequence[Read]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    for name, good, bad in zip(PLACES, (right, all_right), (wrong, own), strict=True):
        if good and bad:
            yield name, tuple(round(one, 4) for one in (ranked(good, bad, score), *interval(good, bad, score)))
        else:
            yield name, ()


def _not_on_the_page(all_right: Sequence[Read], own: Sequence[Read]) -> dict[str, float]:
    """Return how many values the OCR reader does not bear out, and how log-probabilities alone order these."""
    right, wrong = ([one for one in side if NOT_GROUNDED in one.judged.reading.findings] for side in (all_right, own))
    ranks = {"confidence": confidence, "log-probabilities alone": tokens_alone}
    found = {name: round(ranked(right, wrong, score), 4) for name, score in ranks.items()} if right and wrong else {}
    return {"right": len(right), "misread": len(wrong), **found}


def _shown(figures: Sequence[float]) -> str:
    return "{:.3f} ({:.3f} to {:.3f})".format(*figures) if figures else ""


def _rows(reads: Sequence[Read], right: Sequence[Read], all_right: Sequence[Read]) -> Iterator[tuple[object, ...]]:
    groups = [
        (CLEAN, "ordinary"),
        *((kind, "ordinary") for kind in KINDS),
        (CLEAN, "worn"),
        (OWN, "ordinary"),
        (OWN, "worn"),
    ]
    for kind, group in groups:
        its = [one for one in reads if (one.kind, one.group) == (kind, group)]
        counts = Counter(name for one in its for name in one.weak)
        named = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        sure = ratio(sum(one.judged.confidence > SURE for one in its), len(its))
        rank = "" if kind == CLEAN else f"{ranked(right if kind in KINDS else all_right, its, confidence):.3f}"
        caught = f"{ratio(sum(one.is_caught for one in its), len(its)):.3f}" if kind in KINDS else ""
        yield f"{kind}, {group}", len(its), rank, caught, f"{sure:.3f}", named
