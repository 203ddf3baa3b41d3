"""Routes under /api/v1/, and the few at the root that probes and monitors ask."""

from typing import Any

from django.urls import URLPattern, URLResolver, include, path, re_path, register_converter
from django.views.generic import View

from review.api.converters import IdConverter, NumberConverter
from review.api.views import (
    accuracy,
    document_types,
    documents,
    exports,
    files,
    health,
    learning,
    pages,
    policies,
    projects,
    records,
    regions,
    review_tasks,
    reviewers,
    reviewing,
    rollouts,
    schema,
    snapshots,
    targets,
    tokens,
)
from review.api.views.unknown import unknown_path

register_converter(IdConverter, "id")
register_converter(NumberConverter, "number")

Route = URLPattern | URLResolver


def _route(pattern: str, view: type[View], name: str, **initial: Any) -> URLPattern:  # noqa: ANN401 - as_view's own
    return path(pattern, view.as_view(**initial), name=name)


_documents: list[Route] = [
    _route("", documents.DocumentListView, "documents"),
    _route("<id:id>/", documents.DocumentDetailView, "document"),
    _route("<id:id>/original/", files.OriginalView, "document_original"),
    _route("<id:id>/pages/<number:number>/image/", files.PageImageView, "page_image"),
    _route("<id:id>/pages/<number:number>/words/", pages.PageWordsView, "page_words"),
    _route("<id:id>/pages/<number:number>/crop/", pages.PageCropView, "page_crop"),
    _route("<id:id>/records/", documents.DocumentRecordsView, "document_records"),
    _route("<id:id>/rerun/", documents.RerunView, "document_rerun"),
    _route("<id:id>/type/", documents.TypeView, "document_type_of"),
]
_review_tasks: list[Route] = [
    _route("", review_tasks.TaskListView, "review_tasks"),
    _route("lease/", review_tasks.LeaseNextView, "lease_next"),
    _route("<id:id>/", review_tasks.TaskDetailView, "review_task"),
    _route("<id:id>/lease/", review_tasks.LeaseTaskView, "lease_task"),
    _route("<id:id>/heartbeat/", reviewing.HeartbeatView, "heartbeat"),
    _route("<id:id>/release/", reviewing.ReleaseView, "release"),
    _route("<id:id>/skip/", reviewing.SkipView, "skip"),
    _route("<id:id>/unusable/", reviewing.UnusableView, "unusable"),
    _route("<id:id>/fields/", reviewing.SaveFieldView, "save_field"),
    _route("<id:id>/submit/", reviewing.SubmitView, "submit"),
    _route("<id:id>/regions/", regions.RegionListView, "regions"),
    _route("<id:id>/regions/<number:number>/", regions.RegionView, "region"),
    _route("<id:id>/time/", regions.TimeView, "report_time"),
]
_document_types: list[Route] = [
    _route("", document_types.DocumentTypeListView, "document_types"),
    _route("<slug:document_type>/", document_types.DocumentTypeView, "document_type"),
    _route("<slug:document_type>/versions/", document_types.SchemaVersionListView, "schema_versions"),
    _route("<slug:document_type>/policies/", policies.PolicyListView, "policies"),
    _route("<slug:document_type>/policies/<number:number>/activate/", policies.PolicyActivationView, "activate_policy"),
    _route("<slug:document_type>/targets/", targets.TargetListView, "targets"),
    _route("<slug:document_type>/targets/draft/", targets.TargetPolicyView, "draft_from_targets"),
    _route("<slug:document_type>/targets/remove/", targets.TargetRemovalView, "remove_target"),
    _route("<slug:document_type>/targets/resume/", targets.ResumeView, "resume_field"),
    _route("<slug:document_type>/rollouts/", rollouts.RolloutListView, "rollouts"),
    _route("<slug:document_type>/rollouts/<id:id>/", rollouts.RolloutView, "rollout"),
    _route("<slug:document_type>/rollouts/<id:id>/promote/", rollouts.PromotionView, "promote_rollout"),
    _route("<slug:document_type>/rollouts/<id:id>/roll-back/", rollouts.RollBackView, "roll_back"),
]
_project: list[Route] = [
    path("documents/", include(_documents)),
    path("review-tasks/", include(_review_tasks)),
    path("document-types/", include(_document_types)),
    _route("records/", records.RecordListView, "records"),
    _route("records/<id:id>/", records.RecordView, "record"),
    _route("accuracy/", accuracy.AccuracyView, "accuracy"),
    _route("exports/", exports.ExportListView, "exports"),
    _route("exports/<id:id>/", exports.ExportView, "export"),
    _route("snapshots/", snapshots.SnapshotListView, "snapshots"),
    _route("snapshots/<id:id>/", snapshots.SnapshotView, "snapshot"),
    _route("snapshots/<id:id>/exports/", snapshots.SnapshotExportListView, "snapshot_exports"),
    _route("training-runs/", learning.TrainingRunListView, "training_runs"),
    _route("training-runs/<id:id>/cancel/", learning.TrainingCancelView, "cancel_training"),
    _route("reviewers/", reviewers.ReviewersView, "reviewers"),
    _route("members/", projects.MemberListView, "members"),
    _route("tokens/", tokens.TokenListView, "tokens"),
    _route("tokens/<id:id>/", tokens.TokenView, "token"),
]

app_name = "api"
urlpatterns: list[Route] = [
    path("schema/", schema.schema, name="schema"),
    _route("projects/", projects.ProjectListApiView, "projects"),
    _route("exports/download/<str:token>/", exports.ExportDownloadView, "export_download"),
    path("projects/<slug:project>/", include(_project)),
]

root_urlpatterns: list[Route] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    # Whatever it holds, line breaks included: the API never answers in HTML.
    re_path(r"^api(?:/[\s\S]*)?$", unknown_path, name="unknown_api_path"),
]
