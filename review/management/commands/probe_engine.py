"""Command line: manage.py probe_engine [NAME | --engine-version V] [--json]: whether an engine is what it should be."""

import json
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.errors import InferenceError
from review.management.lookup import find_engine_version, refuse_unmigrated
from review.selectors.access import SYSTEM
from review.tasks_engines import ocr_engines
from review.tasks_self_test import self_test, try_engine

REMEDIES: Mapping[str, str] = {
    "served_as_declared": "another server answers there, or it was started otherwise: use serve_model",
    "constrained": "answers are not held to their schema: see structured-outputs-config",
    "logprobs": "confidence cannot be trusted: speculative decoding off, or another vLLM version",
    "length_seen": "answers that were cut short look complete: another vLLM version",
    "repeatable": "the same page is read differently each time: temperature 0; VLLM_BATCH_INVARIANT=1 where it exists",
    "images_kept_apart": "pages are mixed up: enable-prefix-caching off, mm-processor-cache-gb 0",
    "pixel_budget": "lower imaging/max_pixels or decoding/max_tokens, or raise max-model-len",
    "no_white_space_loop": "set disable_any_whitespace in structured-outputs-config, with the backend xgrammar",
    "image_limit": "set limit-mm-per-prompt",
    "adapter": "the adapter changes nothing: see enable-lora and lora-modules",
}


class Command(BaseCommand):
    help = (
        "Without --engine-version: build an OCR engine, read an empty page and print its version as one JSON object. "
        "With it: try a declared language model out and keep the result; it decides whether values are stored unseen."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("engine", nargs="?", default="rapidocr", choices=ocr_engines())
        parser.add_argument("--engine-version", help="a declared engine version: its id, or 8 letters of its digest")
        parser.add_argument("--json", action="store_true", help="print the report as one JSON object, last line")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        try:
            if options["engine_version"] is None:
                self.stdout.write(json.dumps(dict(try_engine(options["engine"])), sort_keys=True))
            else:
                self._try_version(options["engine_version"], is_json=options["json"])
        except InferenceError as failure:
            raise CommandError(f"{failure.code}: {failure}") from failure

    def _try_version(self, reference: str, *, is_json: bool) -> None:
        refuse_unmigrated()
        version = find_engine_version(reference)
        report = self_test(actor=SYSTEM, engine_version=version, tell=lambda check: self._tell(check.as_json()))
        if is_json:
            self.stdout.write(json.dumps(report.as_json()))
        if not report.is_passed:
            raise CommandError(f"{version} has not passed: nothing it reads is stored for sure until it does.")
        self.stderr.write(f"{version} has passed in {report.seconds:.1f} s.")

    def _tell(self, check: Mapping[str, Any]) -> None:
        word = "passed" if check["is_passed"] else "FAILED" if check["is_required"] else "no"
        found = ", ".join(f"{name} {json.dumps(value)}" for name, value in check["found"].items())
        self.stderr.write(f"{word:<8}{check['name']:<22}{found}")
        if word == "FAILED":
            self.stderr.write(f"{'':<8}{REMEDIES.get(check['name'], '')}")
