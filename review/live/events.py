"""What open pages hear. An event is a row, written in the transaction of the action that caused it."""

from dataclasses import asdict, dataclass
from typing import Literal

from review.live.wake import wake_relays_on_commit
from review.models import Event

DocumentEventName = Literal[
    "document.received",
    "document.opened",
    "document.page_read",
    "document.routed",
    "document.failed",
    "document.reviewed",
    "document.type_kept",
]
TaskEventName = Literal[
    "review_task.created",
    "review_task.leased",
    "review_task.released",
    "review_task.skipped",
    "review_task.saved",
    "review_task.submitted",
    "review_task.unusable",
    "review_task.cancelled",
    "review_task.prioritised",
    "review_task.assigned",
]
ExportEventName = Literal["export.requested", "export.progressed", "export.done", "export.failed", "export.cancelled"]
SnapshotEventName = Literal[
    "snapshot.requested", "snapshot.progressed", "snapshot.done", "snapshot.failed", "snapshot.cancelled"
]
TrainingEventName = Literal[
    "training.requested", "training.progressed", "training.done", "training.failed", "training.cancelled"
]
RegionEventName = Literal["region.requested", "region.read"]
PolicyEventName = Literal["policy.drafted", "policy.activated"]
RolloutEventName = Literal["rollout.started", "rollout.shadow_read", "rollout.promoted", "rollout.rolled_back"]
TargetEventName = Literal["field_target.set", "field_target.removed"]
MonitorEventName = Literal["field_monitor.tripped", "field_monitor.resumed"]
PricesEventName = Literal["cost_model.changed"]


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """A document moved: its status, band and progress as they stand now."""

    name: DocumentEventName
    project_id: int
    document_id: int
    status: str
    band: str
    n_pages: int
    n_pages_read: int


@dataclass(frozen=True, slots=True)
class TaskEvent:
    """A review task moved; `holder` is the user name of whoever holds it now, or ""."""

    name: TaskEventName
    project_id: int
    task_id: int
    document_id: int
    holder: str = ""


@dataclass(frozen=True, slots=True)
class ExportEvent:
    """An export went on: `n_written` of `n_records`."""

    name: ExportEventName
    project_id: int
    export_id: int
    state: str
    n_written: int
    n_records: int


@dataclass(frozen=True, slots=True)
class SnapshotEvent:
    """A snapshot went on: `n_done` of `n_records` were looked at."""

    name: SnapshotEventName
    project_id: int
    snapshot_id: int
    state: str
    n_done: int
    n_records: int


@dataclass(frozen=True, slots=True)
class TrainingEvent:
    """A training went on: `n_done` of `n_steps`."""

    name: TrainingEventName
    project_id: int
    training_run_id: int
    kind: str
    state: str
    n_done: int
    n_steps: int


@dataclass(frozen=True, slots=True)
class RegionEvent:
    """A part of a page is read again: it waits, it is done or it failed. What was read is not told to everybody."""

    name: RegionEventName
    project_id: int
    task_id: int
    region_id: int
    state: str


@dataclass(frozen=True, slots=True)
class PolicyEvent:
    """A document type's policy was saved as a draft, or came into force. Its thresholds are not told to everybody."""

    name: PolicyEventName
    project_id: int
    document_type: str
    number: int


@dataclass(frozen=True, slots=True)
class RolloutEvent:
    """A roll-out of a document type began, learned of one more document, or moved to another stage."""

    name: RolloutEventName
    project_id: int
    document_type: str
    rollout_id: int
    stage: str


@dataclass(frozen=True, slots=True)
class TargetEvent:
    """A field of a document type has another target, or none any more."""

    name: TargetEventName
    project_id: int
    document_type: str
    field_path: str


@dataclass(frozen=True, slots=True)
class MonitorEvent:
    """A field stopped being stored unseen after its `n_documents`-th audit, or a manager turned it on again."""

    name: MonitorEventName
    project_id: int
    document_type: str
    field_path: str
    n_documents: int


@dataclass(frozen=True, slots=True)
class PricesEvent:
    """The prices of a project are others now."""

    name: PricesEventName
    project_id: int


LiveEvent = (
    DocumentEvent
    | TaskEvent
    | ExportEvent
    | SnapshotEvent
    | TrainingEvent
    | RegionEvent
    | PolicyEvent
    | RolloutEvent
    | TargetEvent
    | MonitorEvent
    | PricesEvent
)


def publish(event: LiveEvent) -> None:
    """Write the event within the caller's transaction; the relays of all ASGI processes pick it up."""
    payload = asdict(event)
    name, project_id = payload.pop("name"), payload.pop("project_id")
    Event.objects.create(name=name, project_id=project_id, payload=payload)
    wake_relays_on_commit()
