"""The administration pages: everything can be looked at; what is history cannot be changed.

People, memberships and the names of things are edited here. Whatever an action writes with an audit row and an event
(documents, tasks, policies, tokens, exports) is shown but not edited: it has a page, a command or the API for that.
Columns that hold payloads are in no list, and no list reads a row's relations one by one.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import BinaryField, ForeignKey, JSONField, Model, QuerySet, TextField
from django.forms import ModelChoiceField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from review import models

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Any]
    _UserAdmin = UserAdmin[models.User]
else:
    # Not generic when the program runs.
    _Admin, _UserAdmin = admin.ModelAdmin, UserAdmin


class Plain(_Admin):
    """A list without a count of all rows and without payload columns, newest first."""

    show_full_result_count = False
    list_per_page = 50
    list_select_related: ClassVar[Any] = ()
    ordering: ClassVar = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave payload columns, also those of relations, out of lists; a row's own page reads them to show them."""
        related = [self.model._meta.get_field(name).related_model for name in self.list_select_related or ()]
        names = [f"{name}__" for name in self.list_select_related or ()]
        columns = [
            f"{prefix}{field.name}"
            for prefix, model in zip(["", *names], [self.model, *related], strict=True)
            for field in model._meta.concrete_fields
            if isinstance(field, BinaryField | JSONField | TextField)
        ]
        return super().get_queryset(request).defer(*columns)


class ReadOnly(Plain):
    """Rows that may be looked at and nothing else."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the signature is Django's
        """Nobody adds a row here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - as above
        """Nobody changes a row here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - as above
        """Nobody deletes a row here."""
        return False


@admin.register(models.User)
class UserPage(_UserAdmin):
    """People who sign in."""

    fieldsets = (*(UserAdmin.fieldsets or ()), (_("language"), {"fields": ["language"]}))


@admin.register(models.Tenant)
class TenantPage(Plain):
    """Organisations."""

    list_display = ("slug", "name", "created_at")
    search_fields = ("slug", "name")
    readonly_fields = ("created_at",)


@admin.register(models.Project)
class ProjectPage(Plain):
    """Projects."""

    list_display = ("slug", "name", "tenant", "engine_name", "engine_version", "created_at")
    list_select_related = ("tenant", "engine_version")
    search_fields = ("slug", "name")
    autocomplete_fields = ("tenant",)
    # The shares have an action with an audit row.
    readonly_fields = ("second_review_share", "seeded_share", "created_at")

    def formfield_for_foreignkey(
        self,
        db_field: "ForeignKey[Any, Any]",
        request: HttpRequest,
        **kwargs: Any,  # noqa: ANN401 - the signature is Django's
    ) -> "ModelChoiceField[Any] | None":
        """Offer only engine versions that were declared: from the others no engine can be built."""
        if db_field.name == "engine_version":
            kwargs["queryset"] = models.EngineVersion.objects.filter(spec__has_key="kind").order_by("-pk")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(models.Membership)
class MembershipPage(Plain):
    """Who may do what."""

    list_display = ("project", "user", "role", "created_at")
    list_select_related = ("project", "user")
    list_filter = ("role",)
    search_fields = ("project__slug", "user__username")
    autocomplete_fields = ("project", "user")


def _read_only(model: type[Model], columns: str, *, filters: str = "", search: str = "") -> None:
    """Register a read-only page for `model`; the arguments name columns, separated by blanks."""
    shown = tuple(columns.split())
    relations = {field.name for field in model._meta.fields if field.is_relation}
    attributes = {
        "__doc__": f"{model.__name__}: looked at, not changed.",
        "list_display": shown,
        "list_select_related": tuple(name for name in shown if name in relations),
        "list_filter": tuple(filters.split()),
        "search_fields": tuple(search.split()),
    }
    admin.site.register(model, type(f"{model.__name__}Page", (ReadOnly,), attributes))


_read_only(models.ApiToken, "id project user role name prefix last_used_at revoked_at", filters="role", search="prefix")
_read_only(models.DocumentType, "id project slug active_version created_at", search="slug")
_read_only(models.SchemaVersion, "id document_type number digest created_at")
_read_only(
    models.Document,
    "id project document_type filename status band n_pages received_at",
    filters="status band",
    search="sha256",
)
_read_only(models.Page, "id document page_number width height content_hash")
_read_only(models.EngineVersion, "id name digest created_at", search="name digest")
_read_only(
    models.TrainingRun,
    "id project document_type kind state n_done n_steps created_at finished_at",
    filters="kind state",
)
_read_only(models.TrainedModel, "id project document_type kind sha256 created_at", filters="kind", search="sha256")
_read_only(models.Rollout, "id document_type engine_version stage stage_since", filters="stage")
_read_only(models.ShadowRead, "id rollout document state n_attempts error_code created_at", filters="state")
_read_only(models.ShadowField, "id shadow_read field_path is_agreed is_drawn")
_read_only(models.SelfTest, "id engine_version is_passed created_at", filters="is_passed")
_read_only(models.Reading, "id project engine_version content_hash cpu_seconds created_at")
_read_only(
    models.RawAnswer, "id project engine_version content_hash attempt finish_reason n_tokens error_code created_at"
)
_read_only(models.ExtractionRun, "id document engine_version state is_current error_code started_at", filters="state")
_read_only(
    models.PageRead,
    "id run page state n_attempts is_cached is_near_duplicate error_code",
    filters="state is_near_duplicate",
)
_read_only(
    models.FieldPrediction,
    "id run field_path confidence page_number",
)
_read_only(models.CandidateSet, "id run")
_read_only(models.RoutingPolicy, "id document_type number state created_by activated_at")
_read_only(models.FieldTarget, "id document_type field_path wrong_share confidence is_active set_by set_at")
_read_only(models.FieldCertificate, "id policy field_path engine_version look threshold upper_limit created_at")
_read_only(models.FieldMonitor, "id document_type field_path began_at tripped_at ended_at")
_read_only(models.RoutingDecision, "id run document policy band is_selected created_at")
_read_only(models.FieldDecision, "id decision field_path band inclusion_probability is_to_examine")
_read_only(
    models.ReviewTask,
    "id project document_type document kind state priority lease_holder created_at",
    filters="state kind",
)
_read_only(models.CostModel, "project currency cpu_hour gpu_hour person_hour changed_at")
_read_only(models.RegionReading, "id task page reviewer field_path state error_code created_at", filters="state")
_read_only(models.TimeSpent, "id task reviewer field_path seconds created_at")
_read_only(models.TaskSkip, "id task reviewer reason created_at")
_read_only(models.FieldEdit, "id task field_path version verdict author saved_at")
_read_only(
    models.FieldReview,
    "id task field_path verdict is_correct reviewer created_at",
    filters="verdict",
)
_read_only(
    models.ReviewerCheck,
    "id project task field_path reviewer source is_agreed is_right created_at",
    filters="source",
)
_read_only(models.GroundTruth, "id project document field_path origin created_at", filters="origin")
_read_only(
    models.Record,
    "id project document revision is_current reviewer created_at",
    filters="is_current",
)
_read_only(models.AccuracyRollup, "id project document_type field_path population bucket day n n_correct")
_read_only(models.ThroughputRollup, "id project document_type day n_documents n_pages n_auto n_sampled n_review")
_read_only(models.RegressionSet, "id project document_type name number n_items created_at")
_read_only(models.RegressionItem, "id regression_set name sha256")
_read_only(models.EvaluationRun, "id regression_set engine_version created_at")
_read_only(models.EvaluationComparison, "id regression_set run_a run_b is_whole is_blocked created_at")
_read_only(
    models.DatasetExport, "id project format state n_records n_written error_code snapshot_at", filters="state format"
)
_read_only(
    models.Snapshot, "id project holding personal state n_records n_done error_code taken_at", filters="state holding"
)
_read_only(models.SnapshotItem, "id snapshot record split group", filters="split")
_read_only(models.ForeignReading, "id document engine_version is_current received_at")
_read_only(models.Event, "id project name created_at")
_read_only(models.WorkerHeartbeat, "name n_workers engine_name engine_error started_at seen_at")
_read_only(
    models.AuditEntry,
    "id project actor_label action object_type object_id created_at",
    search="object_id actor_label request_id",
)
_read_only(models.IdempotencyKey, "id user path response_status created_at")
