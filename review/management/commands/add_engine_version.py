"""Command line: manage.py add_engine_version [FILE] [--ocr NAME] [--weights DIR] [--set KEY=VALUE …] [--print]."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.errors import InferenceError
from inference.serving.declaration import completed
from inference.serving.weights import WeightsError
from inference.types import OcrProfile, OcrProfileError, VlmSpec, VlmSpecError
from review.actions.engines import declare_engine_version, declare_ocr_version
from review.management.lookup import command_line, refuse_unmigrated
from review.selectors.access import SYSTEM
from review.tasks_engines import ocr_engines, profiled_identity


class Command(BaseCommand):
    help = (
        "Freeze a language model, or an OCR engine with another profile, as an engine version. "
        "The last line of the output is its id."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="JSON file with the specification's keys")
        parser.add_argument("--ocr", metavar="NAME", help="the OCR engine whose profile the keys are, such as rapidocr")
        parser.add_argument("--weights", type=Path, metavar="DIR", help="compute the checksums of this folder's files")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="set one key, such as vllm_version=0.32.0 or server_flags/max-model-len=4096; VALUE is JSON or text",
        )
        parser.add_argument("--print", action="store_true", help="print the complete specification and add nothing")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        given = _read(options["file"]) if options["file"] else {}
        for assignment in options["set"]:
            _assign(given, assignment)
        if options["ocr"]:
            if options["weights"]:
                raise CommandError(
                    "--weights is for language models: an OCR engine reads with those that are installed."
                )
            self._declare_ocr(options["ocr"], given, is_printed=options["print"])
            return
        spec = _completed(given, options["weights"])
        if spec.words_by not in ocr_engines():
            raise CommandError(
                f"/words_by: there is no OCR engine {spec.words_by!r}. Known: {', '.join(ocr_engines())}."
            )
        if options["print"]:
            self.stdout.write(json.dumps(spec.as_json(), indent=2, sort_keys=True, ensure_ascii=False))
            return
        refuse_unmigrated()
        version = declare_engine_version(actor=SYSTEM, spec=spec)
        self.stderr.write(f"Engine version {version.pk} is {version}.")
        if spec.kind == "vllm_server":
            self.stderr.write(f"Serve it with: {command_line(f'serve_model --engine-version {version.pk}')}")
        self.stderr.write(f"Then try it out: {command_line(f'probe_engine --engine-version {version.pk}')}")
        self.stdout.write(str(version.pk))

    def _declare_ocr(self, name: str, given: dict[str, Any], *, is_printed: bool) -> None:
        try:
            identity = profiled_identity(name, OcrProfile.from_json(given))
        except OcrProfileError as error:
            lines = [f"  /{key}: {message}" for key, message in error.problems]
            raise CommandError("\n".join(["This cannot be an engine version:", *lines])) from None
        except InferenceError as error:
            raise CommandError(f"{name} cannot be had here: {error}") from None
        if is_printed:
            self.stdout.write(json.dumps(identity.spec, indent=2, sort_keys=True))
            return
        refuse_unmigrated()
        version = declare_ocr_version(actor=SYSTEM, identity=identity)
        self.stderr.write(f"Engine version {version.pk} is {version}. Roll it out for a document type.")
        self.stdout.write(str(version.pk))


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise CommandError(f"{path} is no JSON file. Print one with --print and change that.") from None
    if not isinstance(data, dict):
        raise CommandError(f"{path} must hold one JSON object.")
    return data


def _assign(data: dict[str, Any], assignment: str) -> None:
    """Set one key, at any depth, to a JSON value or, where it is none, to the text itself."""
    name, is_given, text = assignment.partition("=")
    if not is_given or not name:
        raise CommandError(f"--set {assignment}: write KEY=VALUE, such as vllm_version=0.32.0.")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if name in ("vllm_version", "quantisation", "prompt_version"):
        # 0.32 would be a number, and is a name.
        value = text
    *path, last = name.split("/")
    for part in path:
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            raise CommandError(f"--set {assignment}: {part} has no keys.")
    data[last] = value


def _completed(given: dict[str, Any], weights: Path | None) -> VlmSpec:
    try:
        return completed(given, weights)
    except VlmSpecError as error:
        lines = [f"  {pointer or '/'}: {message}" for pointer, message in error.problems]
        raise CommandError("\n".join(["This cannot be an engine version:", *lines])) from None
    except WeightsError as error:
        raise CommandError(f"The weights cannot be used. {error}") from None
