"""From a snapshot to an engine version that has learned from it: prepared, trained, registered, loaded, tried out."""

import math
import shutil
import signal
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from inference.serving.adapters import differs_by_adapter_alone, load_adapter, with_adapter, with_merged_weights
from inference.serving.chat import chat_client
from inference.serving.environment import server_key, server_url
from inference.serving.weights import verify_weights
from inference.training.child import run_training
from inference.training.errors import TrainingError
from inference.training.exported import Exported
from inference.training.plan import TrainingPlan
from inference.training.prepare import Prepared, prepare
from inference.types import VlmSpec
from review.actions.engines import register_taught
from review.management.parentage import die_with_parent
from review.models import EngineVersion, Project
from review.selectors.access import SYSTEM
from review.selectors.held_out import shut_out_ids

EPOCHS = 3
LOG = "training.log"


@dataclass(frozen=True, slots=True)
class FineTuning:
    """One training of the version `base`. `options` are those of the plan that were given; `out` must not exist.

    `is_merged`: what was learned becomes weights of their own instead of an adapter beside the old ones.
    """

    base: EngineVersion
    spec: VlmSpec
    out: Path
    python: str
    options: Mapping[str, Any]
    tell: Callable[[str], None]
    is_merged: bool = False

    def run(self, fill: Callable[[Path], Path]) -> EngineVersion:
        """Train and register; `fill` puts an export of the snapshot into a folder and returns where it is.

        Raise WeightsError, TrainingError; then nothing is registered and nothing is left of it but the log.
        """
        verify_weights(Path(self.spec.weights_folder), self.spec.weights_sha256)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with (
            _ended_by_signals(),
            tempfile.TemporaryDirectory(dir=self.out.parent, prefix=".finetune-", ignore_cleanup_errors=True) as name,
        ):
            work = Path(name)
            exported = Exported.open(unpacked(fill(work), work))
            self._refuse_held_out(exported)
            prepared = prepare(exported, self.spec, work / "data")
            self._tell_prepared(prepared)
            plan = self._plan(prepared, work / "taught")
            outcome = self._train(plan, work)
            # Documents may have gone into a regression set meanwhile.
            self._refuse_held_out(exported)
            return self._register(exported, prepared, plan, outcome)

    def _train(self, plan: TrainingPlan, work: Path) -> Mapping[str, Any]:
        log = self.out.with_name(f"{self.out.name}.{LOG}")
        self.tell(f"Training {plan.steps} steps by {self.python}; what libraries say is in {log}.")
        return run_training(
            plan,
            python=self.python,
            scratch=work,
            log=log,
            tell=lambda event: self.tell(f"step {event['step']} of {event['steps']}: loss {event['loss']:.4f}"),
            first=die_with_parent(signal.SIGTERM),
        )

    def _plan(self, prepared: Prepared, taught: Path) -> TrainingPlan:
        given = {name: value for name, value in self.options.items() if value is not None}
        plan = TrainingPlan(
            weights_folder=self.spec.weights_folder,
            data_folder=str(prepared.folder),
            out_folder=str(taught),
            max_length=int(self.spec.server_flags["max-model-len"]),
            is_remote_code_trusted=self.spec.is_remote_code_trusted,
            is_merged=self.is_merged,
            **{"steps": 1} | given,
        )
        if "steps" in given:
            return plan
        a_step = plan.batch_size * plan.gradient_accumulation
        steps = max(1, math.ceil(EPOCHS * prepared.n_examples["train"] / a_step))
        return TrainingPlan.from_json(plan.as_json() | {"steps": steps})

    def _tell_prepared(self, prepared: Prepared) -> None:
        counts = prepared.n_examples
        self.tell(f"{counts['train']} pages to train on, {counts['validation']} to check on.")
        for why, n in sorted(prepared.left_out.items()):
            self.tell(f"left out: {n} ({why})")

    def _refuse_held_out(self, exported: Exported) -> None:
        """End where a page of the training or validation side belongs to a regression set by now, or looks like one."""
        project = Project.objects.filter(slug=exported.manifest.get("project", "")).first()
        if project is None:
            return
        taught = {one for split in ("train", "validation") for one in exported.document_ids(split)}
        shut_out = shut_out_ids(project, taught)
        if shut_out:
            raise TrainingError(
                "training_data_unusable",
                f"{len(shut_out)} documents of the snapshot belong to a regression set by now, or look like one that "
                "does: take a new snapshot",
            )

    def _register(
        self, exported: Exported, prepared: Prepared, plan: TrainingPlan, outcome: Mapping[str, Any]
    ) -> EngineVersion:
        Path(plan.out_folder).rename(self.out)
        try:
            spec = (
                with_merged_weights(self.spec, self.out)
                if plan.is_merged
                else with_adapter(self.spec, self.out, rank=plan.rank)
            )
            training = {
                "snapshot": exported.manifest.get("snapshot"),
                "snapshot_sha256": exported.sha256,
                "data_sha256": prepared.sha256,
                **{name: outcome[name] for name in ("plan", "n_train", "n_validation", "validation_loss", "libraries")},
                "first_loss": outcome["losses"][0],
                "last_loss": outcome["losses"][-1],
            }
            return register_taught(actor=SYSTEM, base=self.base, spec=spec, training=training)
        except BaseException:
            shutil.rmtree(self.out, ignore_errors=True)
            raise


def unpacked(export: Path, work: Path) -> Path:
    """Return the folder of an export, unpacked into `work` where it is a file; raise TrainingError."""
    if export.is_dir():
        return export
    target = work / "export"
    try:
        with zipfile.ZipFile(export) as archive:
            archive.extractall(target)
    except (OSError, zipfile.BadZipFile):
        raise TrainingError("training_data_unusable", f"{export} is neither a folder nor a zip file") from None
    return target


def load_beside(base: VlmSpec, spec: VlmSpec) -> bool:
    """Have the server of `base` serve `spec` too; return False where the version needs a server of its own.

    Raise WeightsError for files that are not the version's, EngineUnavailableError.
    """
    if not differs_by_adapter_alone(spec, base):
        return False
    with chat_client(server_url(base.digest), server_key()) as client:
        load_adapter(client, spec, started_for=base)
    return True


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end the block as Ctrl-C does, so that it tidies up."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.default_int_handler(number, frame)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except KeyboardInterrupt:
        raise TrainingError("training_cancelled", "cancelled; nothing was registered") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
