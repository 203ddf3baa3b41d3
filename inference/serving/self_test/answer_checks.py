"""Checks of answers: constrained JSON, log-probabilities, repetition, the bound on tokens."""

import itertools
import json
from typing import Any

from inference.answers.strict import NotStrictError, read_strictly
from inference.serving.self_test.pages import near_identical_pages
from inference.serving.self_test.report import Check
from inference.serving.self_test.signatures import distance, probabilities
from inference.serving.self_test.subject import CHOICE_SCHEMA, SECRET, Subject, choice_question, free_question
from inference.types import RawAnswer, Token

N_REPEATS = 3
SUM_TOLERANCE = 1e-3
"""Log-probabilities come rounded to single precision; twenty of them are summed."""


def keeps_to_schema(answer: RawAnswer) -> bool:
    """Whether an answer is what CHOICE_SCHEMA fixes, to the last character but one."""
    try:
        values = read_strictly(answer.text)
    except NotStrictError:
        return False
    return (
        answer.finish_reason == "stop"
        and isinstance(values, dict)
        and set(values) == set(CHOICE_SCHEMA["required"])
        and values["code"] == SECRET
        and values["digit"] in ("1", "2")
    )


def is_compact(text: str) -> bool:
    """Whether a JSON text has no white space between its tokens."""
    try:
        return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False) == text
    except ValueError:
        return False


def check_constrained(subject: Subject) -> Check:
    """See that constrained JSON constrains, with an image beside it too."""
    image = subject.prepared(near_identical_pages()[0])
    [answer] = subject.ask([choice_question(image)])
    found = {"finish_reason": answer.finish_reason, "is_compact": is_compact(answer.text)}
    return Check("constrained", keeps_to_schema(answer), found, is_required=subject.spec.decoding.is_constrained)


def check_logprobs(subject: Subject) -> Check:
    """See that log-probabilities are there for every token, spell the text, and sum up to 1.

    They do so where all alternatives are listed: under CHOICE_SCHEMA few tokens are allowed at each place, and what is
    forbidden comes back marked.
    """
    image = subject.prepared(near_identical_pages()[0])
    free, choice = subject.ask([free_question(image), choice_question(image)])
    found: dict[str, Any] = {
        "n_tokens": len(free.tokens),
        "is_spelt": _spells(free) and _spells(choice),
        "is_likeliest_chosen": all(_is_likeliest(token) for token in free.tokens),
    }
    sums = [sum(probabilities(token).values()) for token in (*free.tokens, *choice.tokens)]
    complete = [
        sum(probabilities(token).values())
        for token in choice.tokens
        if 1 < len(probabilities(token)) < len(token.alternatives)
    ]
    found |= {"largest_sum": round(max(sums, default=0.0), 6), "n_complete": len(complete)}
    if complete:
        found["complete_sums"] = [round(min(complete), 6), round(max(complete), 6)]
    is_whole = bool(complete) or not subject.spec.decoding.is_constrained
    is_passed = (
        bool(free.tokens and choice.tokens)
        and found["is_spelt"]
        and (found["is_likeliest_chosen"] or subject.spec.decoding.temperature > 0)
        and max(sums) <= 1 + SUM_TOLERANCE
        and is_whole
        and all(abs(total - 1) <= SUM_TOLERANCE for total in complete)
    )
    return Check("logprobs", is_passed, found, is_required=subject.spec.decoding.top_logprobs > 0)


def _spells(answer: RawAnswer) -> bool:
    """Whether the tokens' bytes are the text; an end token may come after it."""
    text = answer.text.encode()
    pieces = list(itertools.accumulate((token.data for token in answer.tokens), initial=b""))
    return text in pieces[-2:]


def _is_likeliest(token: Token) -> bool:
    return token.logprob >= max((logprob for _, logprob in token.alternatives), default=token.logprob) - 1e-6


def check_repeatable(subject: Subject) -> Check:
    """See that the same question, asked alone, has the same answer byte for byte; tell how it is beside others.

    A batch of another size may be computed by other kernels, in another order of additions: few servers promise equal
    answers there, and a score must not hang on the last bits of a log-probability.
    """
    image = subject.prepared(near_identical_pages()[0])
    alone = subject.ask([free_question(image)] * N_REPEATS)
    together = subject.ask_together([free_question(image)] * (N_REPEATS + 1))
    found = {
        "shift": round(max(distance(alone[0], other) for other in alone), 6),
        "is_same_in_a_batch": all(other.text == alone[0].text for other in together),
        "shift_in_a_batch": round(max(distance(alone[0], other) for other in together), 6),
    }
    return Check("repeatable", len({answer.text for answer in alone}) == 1, found)


def check_length_seen(subject: Subject) -> Check:
    """See that an answer that is cut short says so."""
    image = subject.prepared(near_identical_pages()[0])
    [answer] = subject.ask([free_question(image, max_tokens=2)])
    is_passed = answer.finish_reason == "length" and answer.n_tokens in (0, 2)
    return Check("length_seen", is_passed, {"finish_reason": answer.finish_reason, "n_tokens": answer.n_tokens})
