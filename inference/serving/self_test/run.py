"""One self-test from beginning to end."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx

from inference.errors import EngineError
from inference.serving.questions import LanguageModel, Question
from inference.serving.self_test.answer_checks import (
    check_constrained,
    check_length_seen,
    check_logprobs,
    check_repeatable,
)
from inference.serving.self_test.image_checks import check_images_kept_apart, check_pixel_budget
from inference.serving.self_test.report import Check, SelfTestReport
from inference.serving.self_test.server_checks import SECONDS, SERVER_CHECKS, ProbedServer, check_served
from inference.serving.self_test.subject import Subject
from inference.types import RawAnswer, VlmSpec

ANSWER_CHECKS: tuple[Callable[[Subject], Check], ...] = (
    check_constrained,
    check_logprobs,
    check_length_seen,
    check_repeatable,
    check_images_kept_apart,
    check_pixel_budget,
)


def run_self_test(
    spec: VlmSpec,
    model: LanguageModel,
    server: httpx.Client | None = None,
    tell: Callable[[Check], None] | None = None,
) -> SelfTestReport:
    """Try a version out. `model` runs it; `server` is a client of the server behind it, where there is one.

    `tell` hears of each check as it is made. A model behind a server is asked by several threads at one time. Raise
    EngineUnavailableError where the model cannot be asked: then nothing was found out.
    """
    started = time.monotonic()
    checks = []
    for check in _checks(spec, model, server):
        if tell is not None:
            tell(check)
        checks.append(check)
    return SelfTestReport(tuple(checks), time.monotonic() - started)


def _checks(spec: VlmSpec, model: LanguageModel, server: httpx.Client | None) -> Iterator[Check]:
    def ask(questions: Sequence[Question]) -> list[RawAnswer]:
        answers = []
        for answer in model.answer(questions, SECONDS):
            if isinstance(answer, EngineError):
                raise answer
            answers.append(answer)
        return answers

    def ask_together(questions: Sequence[Question]) -> list[RawAnswer]:
        with ThreadPoolExecutor(len(questions)) as threads:
            return [answer for [answer] in threads.map(lambda question: ask([question]), questions)]

    subject = Subject(spec, ask, ask if server is None else ask_together)
    if server is not None:
        served = check_served(ProbedServer(spec, server))
        yield served
        if not served.is_passed:
            # Whatever else were found out would be about another model.
            return
    for check in ANSWER_CHECKS:
        yield _guarded(check, subject)
    if server is not None:
        for server_check in SERVER_CHECKS:
            yield server_check(ProbedServer(spec, server), subject)


def _guarded(check: Callable[[Subject], Check], subject: Subject) -> Check:
    """Make a check; a model that refuses a question has failed the check that asked it."""
    try:
        return check(subject)
    except EngineError as refused:
        return Check(check.__name__.removeprefix("check_"), False, {"refused": str(refused)})
