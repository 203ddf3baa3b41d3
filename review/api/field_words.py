"""What the desk says of a field, in words: how it stands, why a person looks, and what the reading rests on."""

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from review import words
from review.selectors.desk import DeskField
from review.selectors.review_tasks import TaskDetail, TaskField

STATES = ("ok", "doubtful", "broken", "missing", "person")
# A finding says more than the kind of reason that routing made of it.
MADE_OF_FINDINGS = frozenset({"missing_value", "rule_failed", "ambiguous_value", "schema_invalid"})
# Evidence below its bound, worst first: (name, bound, what it means for a person).
WEAKNESSES = (
    ("ocr_score", 0.9, _("its letters are hard to read")),
    ("quality", 0.7, _("the image is poor")),
    ("boundary", 0.5, _("its text may be cut off")),
    ("region", 0.2, _("it stands where this field usually does not")),
    ("keyword", 0.3, _("no keyword stands near it")),
)
STRENGTHS = (
    ("keyword", 0.7, _("a keyword stands near it")),
    ("agreement", 0.5, _("the same value stands elsewhere too")),
    ("pattern", 0.9, _("it looks as this field usually does")),
)
CLOSE_MARGIN = 2.0
"""A lead over the next value that is smaller than this makes the other one worth a look."""


def state_of(field: TaskField) -> str:
    """Return one of `STATES`: what a person decided comes first, then what is wrong with the reading."""
    if field.decided is not None:
        return "person"
    if field.is_disputed is not None:
        return "doubtful" if field.is_disputed else "ok"
    if field.prediction is None or field.prediction.value is None:
        return "missing"
    reasons = field.decision.reasons if field.decision is not None else []
    if "rule_failed" in reasons:
        return "broken"
    is_doubted = field.decision is None or field.decision.band == "review"
    return "doubtful" if is_doubted or field.prediction.findings else "ok"


def sureness_of(field: TaskField) -> str:
    """Return how sure the reading is, in a word; "" once a person decided: nobody's choice has a probability."""
    if field.decided is not None or field.prediction is None or field.prediction.value is None:
        return ""
    return words.confidence_in_words(field.prediction.confidence)


def why_of(field: TaskField) -> list[str]:
    """Return the sentences that say what is wrong with a field, or what it was drawn for."""
    if field.is_disputed is not None:
        return [gettext("two people gave different answers")] if field.is_disputed else []
    findings = field.prediction.findings if field.prediction is not None else []
    reasons = field.decision.reasons if field.decision is not None else []
    return words.reasons_in_words(telling(findings, reasons), field.spec.rule_messages)


def telling(findings: Iterable[str], reasons: Iterable[str]) -> list[str]:
    """Return the findings, then the reasons that say more than a finding does already."""
    said = [code for code in findings if code != "not_found"]
    return [*said, *(code for code in reasons if not (said and code in MADE_OF_FINDINGS))]


def evidence_line(field: DeskField) -> str:
    """Return in one line what the reading rests on: its findings, else its weak points, else its strong ones."""
    prediction = field.prediction
    if prediction is None or prediction.value is None:
        found = prediction.findings if prediction is not None else []
        said = words.reasons_in_words(found, field.spec.rule_messages)
        return words.joined(said or [gettext("not found on the page")])
    evidence = prediction.evidence
    said = words.reasons_in_words(prediction.findings, field.spec.rule_messages)
    said += [str(text) for name, bound, text in WEAKNESSES if float(evidence.get(name, 1.0)) < bound]
    if (other := runner_up(field)) is not None and float(evidence.get("margin", CLOSE_MARGIN)) < CLOSE_MARGIN:
        said.append(gettext("the page also shows %(value)s") % {"value": other})
    if not said:
        said = [gettext("found on the page")]
        said += [str(text) for name, bound, text in STRENGTHS if float(evidence.get(name, 0.0)) >= bound]
    return words.joined(dict.fromkeys(said))


def runner_up(field: DeskField) -> str | None:
    """Return the best other value that stands on the page, as printed; None where there is no other."""
    value = field.prediction.value if field.prediction is not None else None
    others = (one for one in field.candidates if one["value"] is not None and one["value"] != value)
    found = next(others, None)
    return str(found["text"]) if found is not None else None


def evidence_rows(evidence: Mapping[str, float]) -> list[dict[str, object]]:
    """Return each piece of evidence with its words, for whoever opens the details."""
    return [
        {"name": name, "words": words.say(words.EVIDENCE, name), "number": number} for name, number in evidence.items()
    ]


def why_you(detail: TaskDetail) -> list[str]:
    """Return why a person is asked to look, one sentence a field: "Total: the reading is not sure enough".

    What a person has decided already is left out. Reasons that concern the whole document come last.
    """
    asked = [field for field in detail.fields if field.is_to_examine and field.decided is None]
    sentences = []
    of_fields: set[str] = set()
    for field in asked:
        reasons = field.decision.reasons if field.decision is not None else []
        of_fields.update(reasons)
        if told := why_of(field):
            label = words.label_of(field.spec.labels, field.path)
            sentences.append(gettext("%(field)s: %(why)s") % {"field": label, "why": words.joined(told)})
    document = detail.decision.reasons if detail.decision is not None else []
    return [*sentences, *words.reasons_in_words(code for code in document if code not in of_fields)]
