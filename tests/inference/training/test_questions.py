import pytest

from inference.serving.dialogue import Asking
from inference.serving.page_images import PreparedImage, prepare_page
from inference.serving.prompts import load_prompt, prompt_versions
from inference.training.questions import as_parts, asked_of
from tests.inference.serving.asking import SCHEMA, a_page, a_request, a_spec


@pytest.mark.parametrize("version", prompt_versions())
def test_what_is_trained_is_what_is_asked_word_for_word(version: str) -> None:
    spec, page = a_spec(prompt_version=version), a_page()
    asking = Asking(spec, load_prompt(version), page, a_request())
    [turn] = asking.question(prepare_page(page, spec.imaging), is_constrained=True).turns
    texts = [None if isinstance(part, PreparedImage) else part for part in turn.parts]
    assert asked_of(load_prompt(version), SCHEMA) == texts
    assert texts.count(None) == 1


def test_parts_are_typed_in_the_order_in_which_they_are_asked() -> None:
    assert as_parts(["a", None, "b"]) == (
        {"type": "text", "text": "a"},
        {"type": "image"},
        {"type": "text", "text": "b"},
    )
