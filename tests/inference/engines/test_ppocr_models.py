import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import rapidocr
from PIL import Image, ImageDraw, ImageFont

from inference.engines import ppocr_models
from inference.engines.ppocr_models import WEIGHTS, PpOcrModels, parameters, weights_paths
from inference.engines.rapidocr import RapidOCREngine
from inference.errors import EngineUnavailableError
from inference.types import PageImage, PageReading

SAMPLES = Path(__file__).parents[3] / "samples"


def test_weights_come_with_the_wheel() -> None:
    assert all(path.is_file() for path in weights_paths().values())


@pytest.mark.parametrize("missing", sorted(WEIGHTS))
def test_missing_weights_are_refused_and_never_fetched(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rapidocr, "RapidOCR", lambda **_: pytest.fail("RapidOCR was asked, which fetches files"))
    for part, name in WEIGHTS.items():
        if part != missing:
            (tmp_path / name).write_bytes(b"weights")
    with pytest.raises(EngineUnavailableError, match=WEIGHTS[missing]):
        PpOcrModels(tmp_path)


def test_damaged_weights_are_an_absent_engine(tmp_path: Path) -> None:
    for name in WEIGHTS.values():
        (tmp_path / name).write_bytes(b"not a model")
    with pytest.raises(EngineUnavailableError):
        PpOcrModels(tmp_path)


def test_models_are_named_by_path_and_run_on_one_thread() -> None:
    settings = parameters({"detection": Path("/w/d.onnx"), "recognition": Path("/w/r.onnx")})
    assert settings["Det.model_path"] == "/w/d.onnx"
    assert settings["Rec.model_path"] == "/w/r.onnx"
    assert settings["EngineConfig.onnxruntime.intra_op_num_threads"] == 1
    assert settings["EngineConfig.onnxruntime.inter_op_num_threads"] == 1
    assert settings["Global.use_cls"] is False


@pytest.fixture(scope="module")
def models() -> PpOcrModels:
    return PpOcrModels()


@pytest.fixture(scope="module")
def engine(models: PpOcrModels) -> RapidOCREngine:
    return RapidOCREngine(models)


def sample(name: str) -> PageImage:
    with Image.open(SAMPLES / name) as image:
        return PageImage(np.asarray(image.convert("RGB")))


def printed(text: str, size: int, page_size: tuple[int, int]) -> PageImage:
    image = Image.new("RGB", page_size, "white")
    ImageDraw.Draw(image).text((40, 40), text, fill="black", font=ImageFont.load_default(size))
    return PageImage(np.asarray(image))


def watch_shapes(monkeypatch: pytest.MonkeyPatch, step: Any) -> list[tuple[int, ...]]:
    """Return a list that fills with the shapes of what `step` gives its network."""
    seen: list[tuple[int, ...]] = []
    session = step.session

    def watched(pixels: npt.NDArray[np.float32]) -> object:
        seen.append(pixels.shape)
        return session(pixels)

    monkeypatch.setattr(step, "session", watched)
    return seen


def folded(text: str) -> str:
    return "".join(character for character in text.upper() if character.isalnum())


@pytest.mark.engine
@pytest.mark.parametrize("name", ["047.jpg", "069.jpg"])
def test_real_receipts_show_their_date_and_total(engine: RapidOCREngine, name: str) -> None:
    truth = json.loads((SAMPLES / "truth.json").read_text(encoding="utf-8"))[name]
    reading = engine.read_page(sample(name))
    everything = folded("".join(word.text for word in reading.words))
    assert folded(truth["date"]) in everything
    assert folded(truth["total"]) in everything
    assert len(reading.words) >= 15
    assert reading.cpu_seconds > 0
    assert all(0 <= edge <= 1 for word in reading.words for edge in word.bbox)
    assert all(word.bbox.width > 0 and word.bbox.height > 0 for word in reading.words)
    assert PageReading.from_json(json.loads(json.dumps(reading.as_json()))) == reading


@pytest.mark.engine
def test_same_page_reads_the_same_twice(engine: RapidOCREngine) -> None:
    first, second = engine.read_page(sample("069.jpg")), engine.read_page(sample("069.jpg"))
    assert first.words == second.words


@pytest.mark.engine
@pytest.mark.parametrize(("size", "page_size"), [(12, (700, 900)), (30, (1200, 1600)), (120, (1200, 800))])
def test_print_of_any_size_is_read_where_it_stands(
    engine: RapidOCREngine, size: int, page_size: tuple[int, int]
) -> None:
    reading = engine.read_page(printed("INVOICE 4711\nHIGH STREET 12\nTOTAL 25.00", size, page_size))
    assert [folded(word.text) for word in reading.words] == ["INVOICE4711", "HIGHSTREET12", "TOTAL2500"]
    box = reading.words[0].bbox
    assert box.x0 * page_size[0] == pytest.approx(40, abs=size)
    assert box.y0 * page_size[1] == pytest.approx(40, abs=size)


@pytest.mark.engine
def test_page_above_the_models_bound_keeps_boxes_in_shares_of_the_page(engine: RapidOCREngine) -> None:
    reading = engine.read_page(printed("INVOICE 4711", 90, (2600, 3400)))
    (word,) = reading.words
    assert (reading.width, reading.height) == (2600, 3400)
    assert word.bbox.x0 == pytest.approx(40 / 2600, abs=0.02)
    assert word.bbox.y0 == pytest.approx(60 / 3400, abs=0.02)


@pytest.mark.engine
def test_flat_strip_is_padded_and_mapped_back(engine: RapidOCREngine) -> None:
    image = Image.new("RGB", (900, 44), "white")
    ImageDraw.Draw(image).text((300, 6), "TOTAL 12.50", fill="black", font=ImageFont.load_default(28))
    reading = engine.read_page(PageImage(np.asarray(image)))
    assert folded("".join(word.text for word in reading.words)) == "TOTAL1250"
    assert reading.words[0].bbox.x0 == pytest.approx(300 / 900, abs=0.03)


@pytest.mark.engine
@pytest.mark.parametrize("shape", [(1600, 1100, 3), (64, 64, 3), (1, 1, 3), (20, 700, 3)])
def test_blank_page_of_any_shape_has_no_words(engine: RapidOCREngine, shape: tuple[int, int, int]) -> None:
    assert engine.read_page(PageImage(np.full(shape, 255, np.uint8))).words == ()


@pytest.mark.engine
def test_colours_are_taken_as_rgb(models: PpOcrModels) -> None:
    red = np.zeros((64, 64, 3), np.uint8)
    red[..., 0] = 255
    assert models.prepare(red).pixels[0, 0].tolist() == [0, 0, 255]


@pytest.mark.engine
@pytest.mark.parametrize("scale", [0.5, 1.0, 1.5])
def test_detector_is_asked_at_the_scale_given(
    models: PpOcrModels, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = models.prepare(np.full((640, 320, 3), 255, np.uint8))
    seen = watch_shapes(monkeypatch, models._detector)
    models.find_lines(page, scale)
    assert seen == [(1, 3, round(640 * scale), round(320 * scale))]


@pytest.mark.engine
def test_recogniser_sees_exactly_the_width_asked_for(models: PpOcrModels, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watch_shapes(monkeypatch, models._recogniser)
    answers = models.read_lines([np.full((24, 60, 3), 255, np.uint8)] * 2, 128)
    assert seen == [(2, 3, 48, 128)]
    assert len(answers) == 2


@pytest.mark.engine
def test_version_holds_the_checksums_of_the_files_in_use(engine: RapidOCREngine) -> None:
    version = json.loads(json.dumps(engine.version))
    assert version["rapidocr"] == "3.10.0"
    assert version["onnxruntime"]
    for part, path in weights_paths().items():
        assert version["weights_sha256"][part] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.engine
def test_reading_a_receipt_prints_and_logs_nothing(
    engine: RapidOCREngine, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        engine.read_page(sample("047.jpg"))
        engine.read_page(PageImage(np.full((200, 200, 3), 255, np.uint8)))
    output = capfd.readouterr()
    assert (caplog.text, output.out, output.err) == ("", "", "")


def test_weights_are_looked_up_in_the_folder_given(tmp_path: Path) -> None:
    for name in WEIGHTS.values():
        (tmp_path / name).write_bytes(b"x")
    assert {path.parent for path in ppocr_models.weights_paths(tmp_path).values()} == {tmp_path}
