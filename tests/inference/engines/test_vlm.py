import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from inference.engines import vlm
from inference.engines.vlm import VlmEngine, images_per_prompt
from inference.errors import AnswerError, AnswerLostError, EngineDiedError, EngineError, EngineUnavailableError
from inference.imaging.quality import measure
from inference.serving.page_images import PreparedImage
from inference.serving.questions import Question
from inference.types import Example, PageReading, RawAnswer
from tests.inference.serving.asking import (
    VALUES,
    WORDS,
    ScriptedModel,
    a_page,
    a_request,
    a_spec,
    as_answer,
    high_value_schema,
    raw,
)


def images(question: Question) -> list[PreparedImage]:
    return [part for turn in question.turns for part in turn.parts if isinstance(part, PreparedImage)]


def example(digit: str) -> Example:
    return Example(a_page(f"SLIP {digit}"), {**VALUES, "company": f"SHOP {digit}"}, digit * 64)


def test_reading_has_the_words_it_was_given_and_an_answer() -> None:
    page = a_page()
    reading = VlmEngine(a_spec(), ScriptedModel([raw()])).read_page(page, a_request())
    assert reading.words == WORDS
    assert (reading.width, reading.height) == page.size
    assert reading.quality == measure(page)
    assert reading.answer is not None
    assert reading.answer.values == VALUES
    assert reading.cpu_seconds > 0


def test_reading_survives_its_storage() -> None:
    reading = VlmEngine(a_spec(), ScriptedModel([raw()])).read_page(a_page(), a_request())
    again = PageReading.from_json(reading.as_json())
    assert again.answer is not None
    assert reading.answer is not None
    assert again.answer.values == reading.answer.values
    assert again.answer.evidence == reading.answer.evidence


def test_name_is_the_kind_and_version_the_whole_specification() -> None:
    spec = a_spec()
    engine = VlmEngine(spec, ScriptedModel([]))
    assert engine.name == "vllm_server"
    assert engine.version == spec.as_json()


def test_language_model_must_be_told_what_to_read() -> None:
    with pytest.raises(EngineError, match="which fields"):
        VlmEngine(a_spec(), ScriptedModel([])).read_page(a_page())


def test_version_with_an_unknown_prompt_cannot_be_had() -> None:
    with pytest.raises(EngineUnavailableError, match="prompt version 'v99'"):
        VlmEngine(a_spec(prompt_version="v99"), ScriptedModel([]))


def test_failed_answer_is_raised_with_all_attempts() -> None:
    attempts = [raw("nothing"), raw("nothing more")]
    with pytest.raises(AnswerError) as caught:
        VlmEngine(a_spec(), ScriptedModel(attempts)).read_page(a_page(), a_request())
    assert caught.value.attempts == tuple(attempts)


def test_refused_question_is_raised() -> None:
    with pytest.raises(EngineError, match="too long"):
        VlmEngine(a_spec(), ScriptedModel([EngineError("too long")])).read_page(a_page(), a_request())


def test_time_for_a_page_is_shared_by_its_questions() -> None:
    clock = itertools.count(0, 30)
    model = ScriptedModel([raw("nothing"), raw()])
    VlmEngine(a_spec(), model, page_seconds=80, clock=lambda: float(next(clock))).read_page(a_page(), a_request())
    assert model.seconds == [50, 20]


@pytest.mark.parametrize(
    ("engines", "requests", "expected"), [(80, 20, 20), (20, 80, 20), (None, 20, 20), (20, None, 20)]
)
def test_the_shorter_of_two_bounds_on_the_time_holds(
    engines: float | None, requests: float | None, expected: float
) -> None:
    """What was spent on the page before, by the other reader, is gone."""
    model = ScriptedModel([raw()])
    engine = VlmEngine(a_spec(), model, page_seconds=engines, clock=lambda: 5.0)
    engine.read_page(a_page(), a_request(seconds=requests))
    assert model.seconds == [expected]


def test_page_that_used_its_time_up_is_not_asked_about_again() -> None:
    clock = itertools.count(0, 50)
    model = ScriptedModel([raw("nothing"), raw()])
    engine = VlmEngine(a_spec(), model, page_seconds=80, clock=lambda: float(next(clock)))
    with pytest.raises(AnswerError) as caught:
        engine.read_page(a_page(), a_request())
    assert (caught.value.code, caught.value.attempts) == ("answer_unreadable", (raw("nothing"),))
    assert len(model.heard) == 1


def test_page_whose_time_was_over_before_its_first_question_is_late() -> None:
    model = ScriptedModel([raw()])
    with pytest.raises(AnswerLostError) as caught:
        VlmEngine(a_spec(), model).read_page(a_page(), a_request(seconds=-1.0))
    assert (caught.value.code, model.heard) == ("answer_late", [])


LOST = AnswerLostError("answer_lost", "the connection broke")
REFUSED = EngineError("too long")


@pytest.mark.parametrize("failure", [LOST, REFUSED], ids=["lost", "refused"])
def test_second_look_that_failed_leaves_the_first_answer_with_a_doubt(failure: Exception) -> None:
    model = ScriptedModel([raw(), failure])
    answer = VlmEngine(a_spec(), model).read_page(a_page(), a_request(high_value_schema())).answer
    assert answer is not None
    assert (answer.values, answer.attempts, answer.has_second_look_failed) == (VALUES, (raw(),), True)
    assert answer.evidence["/total"]["vote_agreement"] == 0.0


@pytest.mark.parametrize("failure", [LOST, REFUSED], ids=["lost", "refused"])
def test_retry_that_failed_leaves_the_reason_and_the_words_of_the_first(failure: Exception) -> None:
    model = ScriptedModel([raw("nothing"), failure])
    with pytest.raises(AnswerError) as caught:
        VlmEngine(a_spec(), model).read_page(a_page(), a_request())
    assert (caught.value.code, caught.value.attempts) == ("answer_unreadable", (raw("nothing"),))


@pytest.mark.parametrize("failure", [LOST, REFUSED], ids=["lost", "refused"])
def test_first_question_that_failed_is_the_pages_failure(failure: Exception) -> None:
    with pytest.raises(type(failure)) as caught:
        VlmEngine(a_spec(), ScriptedModel([failure])).read_page(a_page(), a_request(high_value_schema()))
    assert caught.value is failure


def test_server_that_went_away_between_two_questions_leaves_what_it_said() -> None:
    gone = EngineUnavailableError("gone")
    with pytest.raises(EngineUnavailableError) as caught:
        VlmEngine(a_spec(), ScriptedModel([raw("nothing"), gone])).read_page(a_page(), a_request())
    assert caught.value is gone
    assert gone.attempts == (raw("nothing"),)


@pytest.mark.parametrize(
    ("flags", "n_images"),
    [
        ({}, 1),
        ({"limit-mm-per-prompt": {"image": 1}}, 1),
        ({"limit-mm-per-prompt": '{"image":3}'}, 3),
        ({"limit-mm-per-prompt": {"image": {"count": 2, "width": 100}}}, 2),
        ({"limit-mm-per-prompt": {"video": 0}}, 1),
    ],
)
def test_number_of_images_is_what_the_servers_flag_says(flags: dict[str, Any], n_images: int) -> None:
    assert images_per_prompt(a_spec(server_flags=flags)) == n_images


@pytest.mark.parametrize("n_images", [1, 2, 3])
def test_no_prompt_has_more_images_than_the_server_takes(n_images: int) -> None:
    model = ScriptedModel([raw()])
    spec = a_spec(server_flags={"limit-mm-per-prompt": {"image": n_images}})
    VlmEngine(spec, model).read_page(a_page(), a_request(examples=(example("1"), example("2"))))
    [question] = model.heard
    assert len(images(question)) == n_images
    told = str([part for turn in question.turns for part in turn.parts])
    assert "SHOP 1" in told
    assert "SHOP 2" in told


def test_page_itself_is_the_last_image() -> None:
    model = ScriptedModel([raw()])
    spec = a_spec(server_flags={"limit-mm-per-prompt": {"image": 2}}, imaging={"is_cropped": False})
    page = a_page()
    VlmEngine(spec, model).read_page(page, a_request(examples=(example("1"),)))
    assert np.array_equal(images(model.heard[0])[-1].pixels, page.pixels)


def test_example_is_prepared_once_a_run() -> None:
    model = ScriptedModel([raw(), raw()])
    engine = VlmEngine(a_spec(server_flags={"limit-mm-per-prompt": {"image": 2}}), model)
    for _ in range(2):
        engine.read_page(a_page(), a_request(examples=(example("1"),)))
    first, second = (images(question)[0] for question in model.heard)
    assert first is second


def test_examples_that_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vlm, "N_KEPT_EXAMPLES", 2)
    model = ScriptedModel(lambda question: raw())
    engine = VlmEngine(a_spec(server_flags={"limit-mm-per-prompt": {"image": 2}}), model)
    for digit in ("1", "2", "3", "1"):
        engine.read_page(a_page(), a_request(examples=(example(digit),)))
    first, *_, last = (images(question)[0] for question in model.heard)
    assert first is not last
    assert np.array_equal(first.pixels, last.pixels)


def test_pages_side_by_side_are_asked_together_and_keep_their_order() -> None:
    def answer(question: Question) -> RawAnswer:
        width = images(question)[0].size[0]
        return raw(as_answer({**VALUES, "company": f"W{width}"}))

    model = ScriptedModel(answer)
    spec = a_spec(imaging={"is_cropped": False})
    pages = [a_page(size=(width, 600)) for width in (300, 400, 500)]
    readings = VlmEngine(spec, model).read_pages([(page, a_request()) for page in pages])
    assert model.batches == [3]
    assert [one.answer.values["company"] for one in readings if isinstance(one, PageReading) and one.answer] == [
        "W300",
        "W400",
        "W500",
    ]


def test_only_pages_that_need_it_are_asked_about_again() -> None:
    model = ScriptedModel([raw(), raw("nothing"), raw(), raw()])
    readings = VlmEngine(a_spec(), model).read_pages([(a_page(), a_request())] * 3)
    assert model.batches == [3, 1]
    assert all(isinstance(one, PageReading) for one in readings)


def test_page_that_fails_takes_no_other_with_it() -> None:
    strip = a_page(size=(4000, 20))
    model = ScriptedModel([raw(), EngineError("too long"), raw("nothing"), raw("nothing")])
    spec = a_spec(imaging={"is_cropped": False})
    pages = [a_page(), a_page(), strip, a_page()]
    good, too_long, is_strip, unreadable = VlmEngine(spec, model).read_pages([(page, a_request()) for page in pages])
    assert isinstance(good, PageReading)
    assert str(too_long) == "too long"
    assert "strip" in str(is_strip)
    assert isinstance(unreadable, AnswerError)
    assert len(unreadable.attempts) == 2


def test_model_that_goes_away_at_second_questions_takes_no_answer_with_it() -> None:
    first, *more = [raw(), raw("nothing"), raw("nothing more")]
    model = ScriptedModel([first, *more, EngineUnavailableError("gone"), raw()])
    good, lost, also_lost = VlmEngine(a_spec(), model).read_pages([(a_page(), a_request())] * 3)
    assert isinstance(good, PageReading)
    for outcome, said in zip((lost, also_lost), more, strict=True):
        assert isinstance(outcome, EngineUnavailableError)
        assert outcome.attempts == (said,)


class Fragile(ScriptedModel):
    """Breaks off on one of the pages, whoever is asked about at the same time."""

    def answer(self, questions: Sequence[Question], seconds: float | None = None) -> list[RawAnswer | EngineError]:
        if any(images(question)[0].size[0] == 400 for question in questions):
            raise AnswerLostError("answer_lost", "out of memory")
        return super().answer(questions, seconds)


def test_model_that_breaks_off_on_a_page_answers_the_others() -> None:
    spec = a_spec(imaging={"is_cropped": False})
    pages = [a_page(size=(width, 600)) for width in (300, 400, 500)]
    outcomes = VlmEngine(spec, Fragile(lambda question: raw())).read_pages([(page, a_request()) for page in pages])
    assert [type(one) for one in outcomes] == [PageReading, AnswerLostError, PageReading]


def test_engine_that_died_with_a_batch_ends_it() -> None:
    with pytest.raises(EngineDiedError):
        VlmEngine(a_spec(), ScriptedModel([EngineDiedError("dead")])).read_pages([(a_page(), a_request())] * 2)


def test_model_that_is_gone_ends_the_batch() -> None:
    with pytest.raises(EngineUnavailableError):
        VlmEngine(a_spec(), ScriptedModel([EngineUnavailableError("gone")])).read_pages([(a_page(), a_request())])


def test_no_pages_are_no_work() -> None:
    assert VlmEngine(a_spec(), ScriptedModel([])).read_pages([]) == []
