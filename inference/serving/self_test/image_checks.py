"""Checks of images: near-identical pages are kept apart, and the pixel budget holds."""

import math
from dataclasses import replace

from inference.serving.self_test.pages import NUMBERS, dense_page, near_identical_pages
from inference.serving.self_test.report import Check
from inference.serving.self_test.signatures import distance
from inference.serving.self_test.subject import Subject, free_question

APART = 4.0
"""How much farther two pages must lie apart than two readings of the same one."""

LEAST_GROWTH = 1.5
"""From half to the whole budget the tokens must grow so many times as much as from a quarter to half: 2 in theory,
less what rounding to a grid of patches takes away."""


def check_images_kept_apart(subject: Subject) -> Check:
    """See that two pages that differ in one digit are not mixed up by a cache, in turn or side by side.

    A model may answer both alike, so the probabilities behind the texts are compared: readings of one page lie closer
    to each other than to those of the other page.
    """
    questions = [free_question(subject.prepared(page)) for page in near_identical_pages()]
    in_turn = subject.ask(questions * 2)
    beside = subject.ask_together(questions * 2)
    first, second = in_turn[:2]
    same = max(distance(first, in_turn[2]), distance(second, in_turn[3]))
    apart = min(distance(one, other) for one in in_turn[::2] for other in in_turn[1::2])
    is_own = all(
        distance(answer, own) < distance(answer, foreign)
        for answers, own, foreign in ((beside[::2], first, second), (beside[1::2], second, first))
        for answer in answers
    )
    found = {
        "same": round(same, 6),
        "apart": round(apart, 6),
        "is_kept_apart_in_a_batch": is_own,
        "reads_print": all(number in answer.text for number, answer in zip(NUMBERS, in_turn, strict=False)),
    }
    return Check("images_kept_apart", apart > APART * same and apart > 0 and is_own, found)


def check_pixel_budget(subject: Subject) -> Check:
    """See that the largest image of a page is taken, is not scaled down unseen, and leaves room for the answer.

    Tokens are counted by the server at a quarter, a half and the whole of the budget. Where they do not grow at all,
    the model has a fixed number of them for every image.
    """
    imaging = subject.spec.imaging
    page = dense_page(math.isqrt(imaging.max_pixels) + 1)
    counts: list[int] = []
    for share in (0.25, 0.5, 1.0):
        bound = int(imaging.max_pixels * share)
        profile = replace(imaging, max_pixels=bound, long_side=10 * imaging.long_side, is_cropped=False)
        [answer] = subject.ask([free_question(subject.prepared(page, profile), max_tokens=1)])
        counts.append(answer.n_prompt_tokens)
    quarter, half, whole = counts
    is_fixed = quarter == whole
    is_growing = whole - half >= LEAST_GROWTH * (half - quarter) and half > quarter
    n_bound = int(subject.spec.server_flags.get("max-model-len", 0))
    n_needed = whole + subject.spec.decoding.max_tokens
    found = {
        "max_pixels": imaging.max_pixels,
        "prompt_tokens": counts,
        "tokens_needed": n_needed,
        "is_scaled_down": not (is_growing or is_fixed),
    }
    is_roomy = not n_bound or n_needed <= n_bound
    return Check("pixel_budget", whole > 0 and (is_growing or is_fixed) and is_roomy, found)
