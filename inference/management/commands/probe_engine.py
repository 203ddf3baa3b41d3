"""`manage.py probe_engine [NAME]`: whether an engine can be had here, and which version of it."""

import argparse
import json

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from inference import registry
from inference.errors import InferenceError
from inference.types import PageImage


class Command(BaseCommand):
    help = "Build an engine, read an empty page with it and print its version as one JSON object."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("engine", nargs="?", default="rapidocr", choices=registry.available())

    def handle(self, *_args: object, engine: str, **_options: object) -> None:
        try:
            reader = registry.build_engine(engine)
            reader.read_page(PageImage(np.full((320, 240, 3), 255, np.uint8)))
        except InferenceError as failure:
            raise CommandError(f"{failure.code}: {failure}") from failure
        self.stdout.write(json.dumps(dict(reader.version), sort_keys=True))
