"""The tables. No signals, no `save()` with side effects."""

from review.models.accuracy import AccuracyRollup, Population, ThroughputRollup
from review.models.audit import AuditEntry, IdempotencyKey
from review.models.costs import CostModel
from review.models.datasets import DatasetExport, Holding, Personal, Snapshot, SnapshotItem, Split
from review.models.desk import RegionReading, RegionState, TimeSpent
from review.models.documents import UNFINISHED_STATUSES, Document, DocumentStatus, Page
from review.models.engines import EngineVersion, RawAnswer, Reading, SelfTest
from review.models.evaluation import EvaluationComparison, EvaluationRun, RegressionItem, RegressionSet
from review.models.events import Event, WorkerHeartbeat
from review.models.extraction import (
    CandidateSet,
    ExtractionRun,
    FieldPrediction,
    PageRead,
    PageReadState,
    RunRole,
    RunState,
)
from review.models.foreign import ForeignReading
from review.models.learning import ModelKind, TrainedModel, TrainingRun
from review.models.reviewing import (
    FieldEdit,
    FieldReview,
    Record,
    ReviewTask,
    TaskKind,
    TaskSkip,
    TaskState,
    Verdict,
)
from review.models.rollouts import Rollout, RolloutStage, ShadowField, ShadowRead
from review.models.routing import FieldDecision, PolicyState, RoutingDecision, RoutingPolicy
from review.models.schemas import DocumentType, SchemaVersion
from review.models.second_looks import CheckSource, GroundTruth, ReviewerCheck, TruthOrigin
from review.models.targets import FieldCertificate, FieldMonitor, FieldTarget
from review.models.tenancy import ApiToken, Membership, Project, Role, Tenant, User
from review.models.work import UNFINISHED_WORK, Work, WorkState

__all__ = [
    "UNFINISHED_STATUSES",
    "UNFINISHED_WORK",
    "AccuracyRollup",
    "ApiToken",
    "AuditEntry",
    "CandidateSet",
    "CheckSource",
    "CostModel",
    "DatasetExport",
    "Document",
    "DocumentStatus",
    "DocumentType",
    "EngineVersion",
    "EvaluationComparison",
    "EvaluationRun",
    "Event",
    "ExtractionRun",
    "FieldCertificate",
    "FieldDecision",
    "FieldEdit",
    "FieldMonitor",
    "FieldPrediction",
    "FieldReview",
    "FieldTarget",
    "ForeignReading",
    "GroundTruth",
    "Holding",
    "IdempotencyKey",
    "Membership",
    "ModelKind",
    "Page",
    "PageRead",
    "PageReadState",
    "Personal",
    "PolicyState",
    "Population",
    "Project",
    "RawAnswer",
    "Reading",
    "Record",
    "RegionReading",
    "RegionState",
    "RegressionItem",
    "RegressionSet",
    "ReviewTask",
    "ReviewerCheck",
    "Role",
    "Rollout",
    "RolloutStage",
    "RoutingDecision",
    "RoutingPolicy",
    "RunRole",
    "RunState",
    "SchemaVersion",
    "SelfTest",
    "ShadowField",
    "ShadowRead",
    "Snapshot",
    "SnapshotItem",
    "Split",
    "TaskKind",
    "TaskSkip",
    "TaskState",
    "Tenant",
    "ThroughputRollup",
    "TimeSpent",
    "TrainedModel",
    "TrainingRun",
    "TruthOrigin",
    "User",
    "Verdict",
    "Work",
    "WorkState",
    "WorkerHeartbeat",
]
