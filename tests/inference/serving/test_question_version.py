"""Code that makes other questions or other page images of the same page counts QUESTION_VERSION up.

Readings are cached under it: without that, what was read by the old code would pass for what the new code asks.
"""

import hashlib
import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile, get_sampling

from inference.serving.dialogue import Asking
from inference.serving.page_images import PreparedImage, prepare_page
from inference.serving.prompts import load_prompt
from inference.serving.questions import Question
from inference.types import Example, ImagingProfile, PageImage
from inference.types.requests import QUESTION_VERSION
from tests.inference.serving.asking import VALUES, a_request, a_spec

# A digest for each version there was. Does the test below fail? Then this code asks otherwise than before: count
# QUESTION_VERSION up and add the new digest, or take the change back.
DIGESTS = {1: "5bbf261fd6eba1db79e42d3799045ab6443a5c231229e82e3001b496bbbbd184"}


def ruled(width: int, height: int) -> PageImage:
    """White paper with black rules, drawn by us: no font and no encoder has a say in it."""
    pixels = np.full((height, width, 3), 255, np.uint8)
    # Nearly to the edges: what is left after cropping has the form of the paper.
    for top in (height // 20, -height // 20):
        pixels[top : top + 4, width // 20 : -width // 20] = 0
    return PageImage(pixels)


def told(question: Question) -> dict[str, Any]:
    """Everything of a question; of an image that was not resized, its pixels, else its size: resizing is OpenCV's."""
    turns = [[turn.role, [_part(part) for part in turn.parts]] for turn in question.turns]
    return {"turns": turns, "max_tokens": question.max_tokens, "schema": question.schema}


def _part(part: str | PreparedImage) -> object:
    if isinstance(part, str):
        return part
    is_whole = set(np.unique(part.pixels)) == {0, 255}
    return [part.size, part.jpeg_quality, hashlib.sha256(part.pixels.tobytes()).hexdigest() if is_whole else ""]


def questions() -> list[dict[str, Any]]:
    """What is asked about small, large and narrow pages, with an example and with a complaint, at both scales."""
    found = []
    for version in ("v1", "v2"):
        spec, prompt = a_spec(prompt_version=version), load_prompt(version)
        for size in ((400, 600), (2000, 3000), (900, 6000)):
            page = ruled(*size)
            example = Example(ruled(400, 600), VALUES, "e" * 64)
            for shown in ((), ((example, None),), ((example, prepare_page(example.page, spec.imaging)),)):
                asking = Asking(spec, prompt, page, a_request(), shown)
                for scale in (1.0, spec.imaging.second_long_side / spec.imaging.long_side):
                    image = prepare_page(page, spec.imaging, scale)
                    found.append(told(asking.question(image, is_constrained=True)))
                    found.append(told(asking.question(image, is_constrained=False, message="/total: is no amount")))
    return found


def test_a_change_of_what_is_asked_has_a_version_of_its_own() -> None:
    digest = hashlib.sha256(json.dumps(questions(), sort_keys=True).encode()).hexdigest()
    assert {QUESTION_VERSION: digest}.items() <= DIGESTS.items(), "see DIGESTS"
    assert max(DIGESTS) == QUESTION_VERSION


# The digest leaves out what libraries may round differently. What follows says how pages are scaled and compressed in
# figures that no release of them changes; another way of doing either needs a new QUESTION_VERSION as well.


def scaled(cell: npt.NDArray[np.uint8], repeats: int, factor: float) -> npt.NDArray[np.uint8]:
    """Prepare a page that repeats a cell of grey, so that it is scaled by that factor."""
    pixels = np.tile(cell, (repeats, repeats))
    page = PageImage(np.repeat(pixels[:, :, None], 3, axis=2))
    side = pixels.shape[0]
    profile = ImagingProfile(long_side=round(side * min(factor, 1.0)), max_pixels=10**8, is_cropped=False)
    return prepare_page(page, profile, max(factor, 1.0)).pixels[:, :, 0]


def test_a_shrunk_pixel_is_the_mean_of_all_that_it_covers() -> None:
    cell = np.full((4, 4), 255, np.uint8)
    cell[1:3, 1:3] = 0
    found = scaled(cell, 200, 0.25)
    assert found.shape == (200, 200)
    assert set(np.unique(found)) == {191}, "a look at the middle alone would find black"


def test_enlarging_sharpens_edges() -> None:
    cell = np.full((8, 8), 200, np.uint8)
    cell[:, :4] = 50
    found = scaled(cell, 60, 2.0)
    assert found.shape == (960, 960)
    assert found.min() < 50
    assert found.max() > 200


def test_pages_are_compressed_at_the_profiles_quality_with_all_of_their_colour() -> None:
    image = prepare_page(ruled(400, 600), ImagingProfile(jpeg_quality=77))
    sent, alike = Image.open(io.BytesIO(image.as_jpeg())), io.BytesIO()
    image.as_picture().save(alike, "JPEG", quality=77, subsampling=0)
    told = Image.open(alike)
    assert isinstance(sent, JpegImageFile)
    assert isinstance(told, JpegImageFile)
    assert sent.quantization == told.quantization
    assert get_sampling(sent) == get_sampling(told) == 0
