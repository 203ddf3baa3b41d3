"""What the rows name: one of each thing in the project of the cast, ready for the request to succeed."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from review.accuracy.comparison import compare
from review.actions.engines import declare_engine_version
from review.models import (
    ApiToken,
    DatasetExport,
    Document,
    EngineVersion,
    EvaluationComparison,
    EvaluationRun,
    FieldMonitor,
    FieldTarget,
    ModelKind,
    PolicyState,
    Record,
    RegionReading,
    RegressionSet,
    ReviewTask,
    Role,
    Rollout,
    RoutingPolicy,
    Snapshot,
    TrainingRun,
    User,
    WorkState,
)
from review.routing.monitor import Monitor
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.vlm import SCRIPTED

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "047.jpg"
LEASE_TOKEN = "0123456789abcdef0123456789abcdef"


@dataclass
class World:
    """Made lazily: a row costs only what it names. `user` is who asks, None for nobody."""

    cast: Cast
    user: User | None

    @property
    def project(self) -> str:
        return self.cast.project.slug

    @cached_property
    def document(self) -> Document:
        """A routed document with a page that is a picture, an open task and a record."""
        document = factories.make_routed(self.cast.document_type)
        page = document.pages.get()
        page.image.save("page.jpg", ContentFile(SAMPLE.read_bytes()))
        Record.objects.create(
            project=self.cast.project,
            document=document,
            revision=1,
            run=document.runs.get(),
            values={"/total": "9.00"},
            provenance={"/total": {"source": "model"}},
        )
        return document

    @cached_property
    def record(self) -> Record:
        return self.document.records.get()

    @cached_property
    def task(self) -> ReviewTask:
        """Nobody's."""
        return self.document.review_tasks.get()

    @cached_property
    def held_task(self) -> ReviewTask:
        """Held by whoever asks, under LEASE_TOKEN, so that only the role can be in the way."""
        task = self.task
        task.lease_holder, task.lease_token = self.user, LEASE_TOKEN
        task.lease_expires_at = timezone.now() + timedelta(minutes=5)
        task.save()
        return task

    @cached_property
    def region(self) -> RegionReading:
        """Asked for in the held task."""
        return RegionReading.objects.create(
            task=self.held_task, page=self.document.pages.get(), bbox=[0.1, 0.1, 0.5, 0.2], field_path="/total"
        )

    @cached_property
    def export(self) -> DatasetExport:
        """Queued."""
        return DatasetExport.objects.create(project=self.cast.project, format="jsonl")

    @cached_property
    def finished_export(self) -> DatasetExport:
        return DatasetExport.objects.create(
            project=self.cast.project,
            format="jsonl",
            state=WorkState.DONE,
            sha256="0" * 64,
            file=ContentFile(b"{}\n", name="export.jsonl"),
        )

    @cached_property
    def snapshot(self) -> Snapshot:
        """Queued."""
        return Snapshot.objects.create(project=self.cast.project, seed="x", validation_share=0.1, test_share=0.1)

    @cached_property
    def taken_snapshot(self) -> Snapshot:
        self.snapshot.state = WorkState.DONE
        self.snapshot.save()
        return self.snapshot

    @cached_property
    def token(self) -> ApiToken:
        return ApiToken.objects.create(
            project=self.cast.project, user=self.cast.viewer, role=Role.VIEWER, prefix="stet_x", digest="0" * 64
        )

    @cached_property
    def draft(self) -> RoutingPolicy:
        return RoutingPolicy.objects.create(
            document_type=self.cast.document_type, number=2, state=PolicyState.DRAFT, rules=factories.RULES
        )

    @cached_property
    def training(self) -> TrainingRun:
        """Queued."""
        return TrainingRun.objects.create(
            project=self.cast.project, document_type=self.cast.document_type, kind=ModelKind.LOCATOR
        )

    @cached_property
    def target(self) -> FieldTarget:
        """Of the total, of which something was read."""
        assert self.document.document_type == self.cast.document_type
        return FieldTarget.objects.create(
            document_type=self.cast.document_type, field_path="/total", wrong_share=0.01, confidence=0.95
        )

    @cached_property
    def stopped(self) -> FieldMonitor:
        """The total, stopped."""
        monitor = Monitor(target=self.target.wrong_share)
        return FieldMonitor.objects.create(
            document_type=self.cast.document_type,
            field_path=self.target.field_path,
            state=monitor.as_json(),
            tripped_at=timezone.now(),
        )

    @cached_property
    def challenger(self) -> EngineVersion:
        """A language model's version that could be tried on the type."""
        return declare_engine_version(actor=SYSTEM, spec=SCRIPTED)

    @cached_property
    def rollout(self) -> Rollout:
        """In shadow, and the gate is open: it was compared with who reads now on the newest set."""
        run = self.document.runs.get()
        kept = RegressionSet.objects.create(
            project=self.cast.project, document_type=self.cast.document_type, name="test", digest="d"
        )
        runs = [
            EvaluationRun.objects.create(regression_set=kept, engine_version=version, results={})
            for version in (run.engine_version, self.challenger)
        ]
        results = compare([], {}).as_json()
        EvaluationComparison.objects.create(
            regression_set=kept, run_a=runs[0], run_b=runs[1], results=results, is_whole=True, is_blocked=False
        )
        return Rollout.objects.create(
            document_type=self.cast.document_type, engine_version=self.challenger, champion=run.engine_version, salt="s"
        )

    def upload(self) -> SimpleUploadedFile:
        return SimpleUploadedFile("receipt.jpg", SAMPLE.read_bytes(), content_type="image/jpeg")
