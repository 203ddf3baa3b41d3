"""Pages to read: the samples, each in several versions that differ by a few pixels, so that none is a copy."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from inference.bench import image_files

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"


def distinct_files(source: Path, folder: Path, n_files: int, first_version: int = 0) -> list[Path]:
    """Write `n_files` JPEGs to `folder`: every image of `source`, less `version` rows and columns at its left and top.

    A folder that has enough images gives them as they are. Raise ValueError where there is no image at all.
    """
    originals = image_files(source)
    if not originals:
        raise ValueError(f"no image files in {source}")
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _version(originals[n % len(originals)], folder, first_version + n // len(originals)) for n in range(n_files)
    ]


def _version(original: Path, folder: Path, version: int) -> Path:
    path = folder / f"{original.stem}-{version}{original.suffix}"
    if version == 0:
        path.write_bytes(original.read_bytes())
        return path
    path = path.with_suffix(".jpg")
    with Image.open(original) as image:
        cropped = image.convert("RGB").crop((version, version, *image.size))
        cropped.save(path, "JPEG", quality=92)
    return path


def names(paths: Sequence[Path]) -> list[str]:
    """Return paths as arguments of a command."""
    return [str(path) for path in paths]
