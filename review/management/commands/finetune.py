"""Command line: manage.py finetune --engine-version V --snapshot S [--steps N] [--rank R] [--seed N] [--out DIR]."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.errors import EngineUnavailableError
from inference.serving.environment import server_url
from inference.serving.weights import WeightsError
from inference.training.errors import TrainingError
from inference.types import VlmSpec
from review.management.fine_tuning import FineTuning, load_beside
from review.management.lookup import command_line, find_engine_version, find_snapshot, refuse_unmigrated
from review.models import EngineVersion
from review.selectors.access import SYSTEM
from review.selectors.engines import vlm_spec_of
from review.tasks_exports import write_archive
from review.tasks_self_test import self_test

PLAN_OPTIONS = ("steps", "rank", "learning_rate", "batch_size", "gradient_accumulation", "dropout", "seed")


class Command(BaseCommand):
    help = (
        "Teach a language model what people settled (LoRA), and register what it has learned as a new engine version. "
        "The last line of the output is its id."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--engine-version", required=True, help="a declared version: its id, or 8 letters of its digest"
        )
        parser.add_argument(
            "--snapshot", required=True, help="a snapshot's id, or its export in the format trl: a folder or a zip file"
        )
        parser.add_argument("--steps", type=int, help="steps of the optimiser (default: three times over the data)")
        parser.add_argument("--rank", type=int, help="LoRA's rank (default: 16)")
        parser.add_argument("--learning-rate", type=float, help="(default: 1e-4)")
        parser.add_argument("--batch-size", type=int, help="pages at one time (default: 1)")
        parser.add_argument("--gradient-accumulation", type=int, help="batches a step (default: 8)")
        parser.add_argument("--dropout", type=float, help="LoRA's dropout (default: 0.05)")
        parser.add_argument("--seed", type=int, help="the same seed and data give the same adapter (default: 0)")
        parser.add_argument(
            "--merge",
            action="store_true",
            help="write whole weights instead of an adapter: for architectures on which vLLM loads none",
        )
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="where it goes (default: adapters/, or weights/, in STET_DATA_DIR)"
        )
        parser.add_argument(
            "--python", help="the Python that has the extra train (default: that of STET_VLLM_VENV, or this one)"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        refuse_unmigrated()
        base = find_engine_version(options["engine_version"])
        spec = _tunable(base)
        out = (options["out"] or _default_out(base, options)).resolve()
        if out.exists():
            raise CommandError(f"{out} is there already. Remove it, or name another folder by --out.")
        tuning = FineTuning(
            base=base,
            spec=spec,
            out=out,
            python=_python(options["python"]),
            options={name: options[name] for name in PLAN_OPTIONS},
            tell=self._tell,
            is_merged=options["merge"],
        )
        try:
            version = tuning.run(_export(options["snapshot"]))
        except TrainingError as failure:
            raise CommandError(f"{failure.code}: {failure}") from None
        except WeightsError as wrong:
            raise CommandError(f"The weights are not those of this engine version. {wrong}") from None
        self._tell(f"Engine version {version.pk} is {version}: {out}")
        self._try_out(base, version)
        self.stdout.write(str(version.pk))

    def _tell(self, line: str) -> None:
        self.stderr.write(line)
        self.stderr.flush()

    def _try_out(self, base: EngineVersion, version: EngineVersion) -> None:
        """Load and probe it where a server runs that can; then say what comes next."""
        try:
            is_loaded = self._load(base, version)
            if is_loaded:
                report = self_test(actor=SYSTEM, engine_version=version)
                failed = ", ".join(check.name for check in report.checks if check.is_required and not check.is_passed)
                self._tell(f"Self-test: {'passed' if report.is_passed else f'not passed ({failed})'}.")
        except WeightsError as wrong:
            raise CommandError(f"The adapter was changed after it was registered. {wrong}") from None
        except EngineUnavailableError as away:
            self._tell(f"Not tried out: {away}")
            is_loaded = False
        if not is_loaded:
            self._tell(f"Serve it with: {command_line(f'serve_model --engine-version {version.pk}')}")
            self._tell(f"Then try it out: {command_line(f'probe_engine --engine-version {version.pk}')}")
        compare = command_line(f"evaluate --project P --set S --compare {base.pk} {version.pk}")
        self._tell(f"Compare it on a regression set: {compare}")
        self._tell("Then start its roll-out on the page Roll-outs of the project. Until then nothing is read with it.")

    def _load(self, base: EngineVersion, version: EngineVersion) -> bool:
        base_spec, spec = vlm_spec_of(base), vlm_spec_of(version)
        if base_spec is None or spec is None or not load_beside(base_spec, spec):
            self._tell("It needs other weights or flags than the server of the old version has: a server of its own.")
            return False
        url = server_url(base_spec.digest)
        self._tell(f"The server of engine version {base.pk} has loaded it as {spec.tied_name}.")
        if server_url(spec.digest) != url:
            self._tell(f"Workers look for it elsewhere: add {spec.digest[:8]}={url} to STET_VLLM_URLS.")
            return False
        return True


def _tunable(version: EngineVersion) -> VlmSpec:
    spec = vlm_spec_of(version)
    if spec is None or spec.kind != "vllm_server" or version.base_id is not None:
        raise CommandError(
            f"Engine version {version.pk} is one of {version.name!r}: only a declared vllm_server takes an adapter."
        )
    return spec


def _default_out(base: EngineVersion, options: dict[str, Any]) -> Path:
    data = Path(options["snapshot"]).stem
    name = f"{base.digest[:8]}-{data}-r{options['rank'] or 16}-s{options['seed'] or 0}"
    return Path(settings.DATA_DIR) / ("weights" if options["merge"] else "adapters") / name


def _python(named: str | None) -> str:
    in_venv = str(Path(settings.STET_VLLM_VENV) / "bin" / "python") if settings.STET_VLLM_VENV else sys.executable
    python = named or in_venv
    if not Path(python).is_file():
        raise CommandError(f"There is no Python at {python}. Name the one that has the extra train: --python.")
    return python


def _export(reference: str) -> Callable[[Path], Path]:
    """Return what puts the export of a snapshot into a folder and says where it is."""
    if not reference.isdecimal():
        path = Path(reference)
        if not path.exists():
            raise CommandError(f"There is no snapshot, folder or zip file {reference!r}.")
        return lambda _work: path
    snapshot = find_snapshot(int(reference))

    def write(work: Path) -> Path:
        target = work / "export.zip"
        write_archive(snapshot, "trl", target)
        return target

    return write
