"""Routes of the pages."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from review.web.views import (
    accuracy,
    datasets,
    desk,
    document,
    documents,
    exports,
    fields,
    home,
    operations,
    policies,
    queue,
    reviewers,
    session,
    targets,
    tokens,
)

project_patterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="documents"), name="project"),
    path("documents/", documents.documents, name="documents"),
    path("documents/rows/", documents.document_rows, name="document_rows"),
    path("documents/upload/", documents.upload, name="upload"),
    path("documents/<int:document_id>/", document.document, name="document"),
    path("documents/<int:document_id>/original/", document.original, name="original"),
    path("documents/<int:document_id>/rerun/", document.rerun, name="rerun"),
    path("documents/<int:document_id>/pages/<int:page_number>/", document.page_image, name="page_image"),
    path("review/", desk.desk, name="desk"),
    path("queue/", queue.queue, name="queue"),
    path("queue/change/", queue.change_queue, name="change_queue"),
    path("policies/", policies.policies, name="policies"),
    path("policies/<slug:type_slug>/", policies.policy, name="policy"),
    path("policies/<slug:type_slug>/<int:number>/activate/", policies.activate, name="activate_policy"),
    path("policies/<slug:type_slug>/direct/", policies.direct, name="direct_audits"),
    path("targets/", targets.overview, name="targets"),
    path("targets/<slug:type_slug>/", targets.targets, name="type_targets"),
    path("targets/<slug:type_slug>/draft/", targets.draft, name="draft_from_targets"),
    path("targets/<slug:type_slug>/resume/", targets.resume, name="resume_field"),
    path("operations/", operations.operations, name="operations"),
    path("accuracy/", accuracy.accuracy, name="accuracy"),
    path("accuracy/field/", fields.field_accuracy, name="field_accuracy"),
    path("accuracy/errors/", fields.errors, name="errors"),
    path("reviewers/", reviewers.reviewers, name="reviewers"),
    path("exports/", exports.exports, name="exports"),
    path("exports/<int:export_id>/cancel/", exports.cancel, name="cancel_export"),
    path("exports/<int:export_id>/file/", exports.download, name="download_export"),
    path("data-sets/", datasets.datasets, name="datasets"),
    path("data-sets/<int:snapshot_id>/", datasets.dataset, name="dataset"),
    path("data-sets/<int:snapshot_id>/cancel/", datasets.cancel, name="cancel_snapshot"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("review-tasks/<int:task_id>/release/", document.release, name="release_task"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("sign-in/", session.SignIn.as_view(), name="sign_in"),
    path("sign-out/", session.SignOut.as_view(), name="sign_out"),
    path("language/", session.choose_language, name="choose_language"),
    path("theme/", session.choose_theme, name="choose_theme"),
    path("projects/<slug:slug>/", include(project_patterns)),
]
