"""`manage.py bench_engine DIR`: CPU seconds a page, and the share of what RapidOCR costs as it comes."""

import argparse
import json
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from inference import bench, registry
from inference.engines.rapidocr_as_it_comes import reader_as_it_comes
from inference.errors import InferenceError


class Command(BaseCommand):
    help = "Measure the CPU seconds that an engine spends on a page; the last line is one JSON object."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, metavar="DIR", help="folder of image files")
        parser.add_argument("--engine", default="rapidocr", choices=registry.available())
        parser.add_argument("--limit", type=int, help="read at most so many files")
        parser.add_argument("--baseline", action="store_true", help="read each page with RapidOCR as it comes, too")

    def handle(
        self, *_args: object, directory: Path, engine: str, limit: int | None, baseline: bool, **_options: object
    ) -> None:
        if not directory.is_dir():
            raise CommandError(f"not a folder: {directory}")
        files = bench.image_files(directory, limit)
        if not files:
            raise CommandError(f"no image files in {directory}")
        try:
            reader = registry.build_engine(engine)
            yardstick = reader_as_it_comes() if baseline else None
            result = bench.measure_cost(reader, bench.load_pages(files), yardstick)
        except InferenceError as failure:
            raise CommandError(f"{failure.code}: {failure}") from failure
        costs = {engine: result.engine, "as it comes": result.baseline}
        for name, cost in costs.items():
            if cost is not None:
                self.stdout.write(
                    f"{name}: mean {cost.mean:.3f}, median {cost.median:.3f}, p95 {cost.p95:.3f} CPU-s a page"
                )
        if result.ratio is not None:
            self.stdout.write(f"ratio {result.ratio:.3f}")
        self.stdout.write(json.dumps(result.as_json()))
