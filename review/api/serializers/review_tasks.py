"""Review tasks: the queue, one task with all that is to be looked at, and what reviewers send."""

from collections.abc import Mapping
from typing import Any, Protocol

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from review import words
from review.api import field_words
from review.api.fields import (
    AnyValueField,
    BandField,
    BoxField,
    ObjectField,
    ReadSerializer,
    ReasonsField,
    WriteSerializer,
)
from review.api.serializers.documents import PageSerializer, SuggestionSerializer
from review.models import FieldPrediction, Page, ReviewTask, TaskKind, TaskState, Verdict
from review.selectors.desk import DeskField
from review.selectors.review_tasks import TaskDetail, TaskField
from review.selectors.second_looks import shown_kind


class Labelled(Protocol):
    """What has labels by language: a column, a group."""

    labels: Mapping[str, str]


class Ruling(Protocol):
    """What says something by language: a rule between fields."""

    messages: Mapping[str, str]


KIND_HELP = (
    "“adjudication”: two people differ, decide between their `answers`. Everything else is “review” to whoever may "
    "work on it; managers see “second_review”, “seeded” and “disagreement” once the task is finished or somebody else "
    "holds it."
)
LEASE_TOKEN_LENGTH = 32
FIELD_PATH_LENGTH = 200


class KindField(serializers.ChoiceField):
    """Why somebody looks, as far as the caller may be told: see `review.selectors.second_looks.shown_kind`."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - the library's arguments
        super().__init__(**{"choices": TaskKind.choices, "help_text": KIND_HELP, **kwargs})

    def get_attribute(self, instance: Any) -> Any:  # noqa: ANN401 - a task, or what holds one
        """Return the task itself: its kind alone does not say what may be told."""
        return getattr(instance, "task", instance)

    def to_representation(self, value: ReviewTask) -> str:  # type: ignore[override]  # the whole task, as said above
        """Return the kind to show."""
        if value.kind == TaskKind.REVIEW:
            return TaskKind.REVIEW.value
        view = self.context["view"]
        return shown_kind(value, viewer=view.actor.user, is_manager=view.is_manager).value


class TaskSerializer(ReadSerializer):
    """A task as the queue shows it."""

    id = serializers.IntegerField()
    kind = KindField()
    document = serializers.IntegerField(source="document_id")
    document_type = serializers.SlugField(source="document_type.slug")
    filename = serializers.CharField(source="document.filename")
    state = serializers.ChoiceField(choices=TaskState.choices)
    priority = serializers.IntegerField()
    lease_holder = serializers.CharField(source="lease_holder.username", allow_null=True, default=None)
    lease_expires_at = serializers.DateTimeField(allow_null=True)
    n_skips = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class WithdrawableField(serializers.ChoiceField):
    """The verdict of a saved field, null for one that takes a decision back."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - the library's arguments
        super().__init__(**{"choices": Verdict.choices, "allow_null": True, **kwargs})

    def get_attribute(self, instance: Any) -> Any:  # noqa: ANN401 - an edit
        """Return the verdict, None for the word that stands for none."""
        return super().get_attribute(instance) or None


class EditSerializer(ReadSerializer):
    """What a person saved for a field; send `version` as `base_version` of the next save."""

    field_path = serializers.CharField()
    version = serializers.IntegerField()
    verdict = WithdrawableField(help_text="null: what was decided before was taken back, the field is not decided.")
    value = AnyValueField(allow_null=True)
    author = serializers.CharField(source="author.username", allow_null=True, default=None)
    saved_at = serializers.DateTimeField()


class EvidenceSerializer(ReadSerializer):
    """One piece of what a confidence was made from."""

    name = serializers.CharField()
    words = serializers.CharField()
    number = serializers.FloatField()


class PredictionSerializer(ReadSerializer):
    """What the reader claims for a field, how sure it is and why."""

    value = AnyValueField(allow_null=True)
    raw_text = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    evidence = ObjectField()
    evidence_rows = serializers.SerializerMethodField(help_text="The evidence, each piece with its words.")
    findings = ReasonsField()
    page_number = serializers.IntegerField(allow_null=True)
    bbox = BoxField(allow_null=True)

    @extend_schema_field(EvidenceSerializer(many=True))
    def get_evidence_rows(self, prediction: FieldPrediction) -> list[dict[str, object]]:
        """Return the evidence with words."""
        return field_words.evidence_rows(prediction.evidence)


class CandidateSerializer(ReadSerializer):
    """Another place on the page that may show the field."""

    text = serializers.CharField(help_text="As printed.")
    value = AnyValueField(allow_null=True)
    page_number = serializers.IntegerField()
    bbox = BoxField()
    score = serializers.FloatField(help_text="Higher is likelier; comparable within one field only.")


class GivenAnswerSerializer(ReadSerializer):
    """One of two answers that differ; nothing tells whose it is."""

    label = serializers.ChoiceField(choices=["one", "other"])  # type: ignore[assignment]  # declared fields leave the class
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    value = AnyValueField(allow_null=True)


class TaskFieldSerializer(ReadSerializer):
    """One field of a task; `edit` null until somebody saved it. Sentences are in the language of the request."""

    field_path = serializers.CharField(source="path")
    labels = ObjectField(source="spec.labels")
    label = serializers.SerializerMethodField(help_text="In the language of the request.")  # type: ignore[assignment]  # declared fields leave the class
    value_type = serializers.CharField(source="spec.value_type")
    max_lines = serializers.IntegerField(source="spec.max_lines")
    is_required = serializers.BooleanField(source="spec.is_required")
    state = serializers.SerializerMethodField(help_text="How it stands: for the mark beside it.")
    sureness = serializers.SerializerMethodField(help_text="How sure the reader is, in a word; empty after a person.")
    why = serializers.SerializerMethodField(help_text="Sentences: what is wrong, or what it was drawn for.")
    evidence_line = serializers.SerializerMethodField(help_text="What the reading rests on, in one line.")
    is_to_examine = serializers.BooleanField(help_text="The task cannot be submitted without a verdict on it.")
    band = BandField(source="decision.band", default=None)
    reasons = ReasonsField(source="decision.reasons", default=list)
    prediction = PredictionSerializer(allow_null=True)
    candidates = CandidateSerializer(many=True, help_text="The best five values, each once, the likeliest first.")
    answers = GivenAnswerSerializer(many=True, help_text="Of a disputed field of an adjudication; empty elsewhere.")
    edit = EditSerializer(allow_null=True, help_text="Null until somebody saved; its verdict null once withdrawn.")
    versions = EditSerializer(many=True, help_text="What was saved, oldest first: to undo, save an earlier one again.")

    def get_label(self, field: TaskField) -> str:
        """Return the label to show."""
        return words.label_of(field.spec.labels, field.path)

    @extend_schema_field(serializers.ChoiceField(choices=field_words.STATES))
    def get_state(self, field: TaskField) -> str:
        """Return how the field stands."""
        return field_words.state_of(field)

    def get_sureness(self, field: TaskField) -> str:
        """Return how sure the reader is."""
        return field_words.sureness_of(field)

    def get_why(self, field: TaskField) -> list[str]:
        """Return what is wrong."""
        return field_words.why_of(field)

    def get_evidence_line(self, field: DeskField) -> str:
        """Return what the reading rests on."""
        return field_words.evidence_line(field)


class ColumnSerializer(ReadSerializer):
    """One column of a repeated group; its path is relative to the row."""

    path = serializers.CharField()
    labels = ObjectField()
    label = serializers.SerializerMethodField()  # type: ignore[assignment]  # declared fields leave the class
    value_type = serializers.CharField()
    max_lines = serializers.IntegerField()
    is_required = serializers.BooleanField()

    def get_label(self, spec: Labelled) -> str:
        """Return the label to show."""
        return words.label_of(spec.labels)


class GroupSerializer(ReadSerializer):
    """A repeated group, to which a reviewer may add rows: /line_items/3/amount."""

    path = serializers.CharField()
    labels = ObjectField()
    label = serializers.SerializerMethodField()  # type: ignore[assignment]  # declared fields leave the class
    columns = ColumnSerializer(many=True)

    def get_label(self, spec: Labelled) -> str:
        """Return the label to show."""
        return words.label_of(spec.labels)


class RuleSerializer(ReadSerializer):
    """A rule between fields of the document type; "*" in a path stands for every row of a group."""

    name = serializers.CharField(help_text="A field’s finding is “rule:” and this name.")
    rule = serializers.CharField(source="kind", help_text="“sum”, “product”, “in_order” or “not_in_future”.")
    of = serializers.ListField(source="operands", child=serializers.CharField())
    equals = serializers.CharField(source="result", allow_null=True)
    tolerance = serializers.CharField(help_text="The largest difference that passes: “0.01”.")
    days = serializers.IntegerField(help_text="How many days past today a date may lie.")
    message = serializers.SerializerMethodField(help_text="What to say when it is broken.")

    def get_message(self, rule: Ruling) -> str:
        """Return the message in the language of the request."""
        return words.label_of(rule.messages)


class DeskPageSerializer(PageSerializer):
    """One page with where its words are, and parts of its picture."""

    words = serializers.SerializerMethodField()
    crop = serializers.SerializerMethodField(help_text="Add `?bbox=x0,y0,x1,y1` for a part of the picture.")

    @extend_schema_field(OpenApiTypes.URI)
    def get_words(self, page: Page) -> str:
        """Return the address of the words."""
        return self._address("api:page_words", page)

    @extend_schema_field(OpenApiTypes.URI)
    def get_crop(self, page: Page) -> str:
        """Return the address of the crops."""
        return self._address("api:page_crop", page)

    def _address(self, name: str, page: Page) -> str:
        kwargs = {"project": self.context["project"], "id": page.document_id, "number": page.page_number}
        path = reverse(name, kwargs=kwargs)
        request = self.context.get("request")
        return request.build_absolute_uri(path) if request is not None else path


class TaskDetailSerializer(TaskSerializer):
    """A task with all that is to be looked at; shows a `TaskDetail` of `desk_detail`."""

    document_type_labels = ObjectField(source="spec.labels")
    document_type_label = serializers.SerializerMethodField()
    received_at = serializers.DateTimeField(source="task.document.received_at")
    suggestion = SuggestionSerializer(source="task.document", allow_null=True)
    why_you = serializers.SerializerMethodField(help_text="Why a person is asked, one sentence a field.")
    n_to_examine = serializers.SerializerMethodField(help_text="Fields that need a verdict.")
    n_left = serializers.SerializerMethodField(help_text="Of these, not decided yet.")
    document_band = BandField(source="decision.band", default=None)
    document_reasons = ReasonsField(source="decision.reasons", default=list)
    fields = TaskFieldSerializer(many=True)  # type: ignore[assignment]  # declared fields leave the class
    groups = GroupSerializer(many=True)
    rules = RuleSerializer(source="spec.rules", many=True)
    pages = DeskPageSerializer(many=True)

    def get_document_type_label(self, detail: TaskDetail) -> str:
        """Return the type's label to show."""
        return words.label_of(detail.spec.labels, detail.task.document_type.slug)

    def get_why_you(self, detail: TaskDetail) -> list[str]:
        """Return why a person is asked."""
        return field_words.why_you(detail)

    def get_n_to_examine(self, detail: TaskDetail) -> int:
        """Return how many fields need a verdict."""
        return sum(field.is_to_examine for field in detail.fields)

    def get_n_left(self, detail: TaskDetail) -> int:
        """Return how many fields still need one."""
        return sum(field.is_to_examine and field.decided is None for field in detail.fields)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, those of the queue taken from the detail's task."""
        fields = super().get_fields()
        for name, field in fields.items():
            if name in TaskSerializer._declared_fields:
                field.source = f"task.{field.source or name}"
        return fields


class QueueSerializer(ReadSerializer):
    """How much work waits, and why there may be none for you."""

    n_open = serializers.IntegerField()
    n_leased = serializers.IntegerField(help_text="Of these, held by somebody right now.")
    n_skipped = serializers.IntegerField(help_text="Of these, skipped by you.")
    oldest_age_seconds = serializers.FloatField(allow_null=True)
    next_free_in_seconds = serializers.FloatField(allow_null=True, help_text="When the first lease may end.")


class LeaseSerializer(ReadSerializer):
    """A lease: send `lease_token` with everything you do to the task until `lease_expires_at`."""

    lease_token = serializers.CharField(source="token")
    lease_expires_at = serializers.DateTimeField(source="expires_at")


class GivenTaskSerializer(ReadSerializer):
    """A task for you, or null and why."""

    task = TaskDetailSerializer(allow_null=True)
    lease_token = serializers.CharField(allow_null=True)
    lease_expires_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.ChoiceField(
        allow_null=True,
        choices=["nothing_waits", "held_by_others", "skipped_by_you"],
        help_text="Why there is no task; null when there is one.",
    )
    queue = QueueSerializer(allow_null=True, help_text="The queue as you find it, when there is no task.")


class LeaseNextSerializer(WriteSerializer):
    """Which kind of task; any kind when left out. `besides`: the task you work on, to have the next one kept ready."""

    document_type = serializers.SlugField(max_length=50, required=False, allow_null=True, default=None)
    besides = serializers.IntegerField(
        min_value=1,
        max_value=10**18 - 1,
        required=False,
        allow_null=True,
        default=None,
        help_text="A task that you hold. The one you get is renewed by its heartbeat and given back with it.",
    )


class HeldSerializer(WriteSerializer):
    """What proves that you hold the task."""

    lease_token = serializers.CharField(max_length=LEASE_TOKEN_LENGTH)


class ReleaseSerializer(WriteSerializer):
    """Your lease; a manager leaves it out to take the task from whoever holds it."""

    lease_token = serializers.CharField(max_length=LEASE_TOKEN_LENGTH, required=False, allow_null=True, default=None)


class ReasonedSerializer(HeldSerializer):
    """Your lease and why."""

    reason = serializers.CharField(max_length=500)


class VerdictSerializer(WriteSerializer):
    """What you found for one field."""

    field_path = serializers.CharField(max_length=FIELD_PATH_LENGTH)
    verdict = serializers.ChoiceField(
        choices=Verdict.choices,
        allow_null=True,
        help_text="null takes back what was saved: the field is not decided, as if nobody had looked at it.",
    )
    value = AnyValueField(
        required=False,
        allow_null=True,
        default=None,
        help_text="What the page shows: text, number or null. Needed with “corrected” and “missing”.",
    )


class SubmitSerializer(HeldSerializer):
    """Your lease; `verdicts` add to what was saved and win over it."""

    verdicts = VerdictSerializer(many=True, required=False)


class SaveSerializer(VerdictSerializer):
    """One field to save on top of a version."""

    lease_token = serializers.CharField(max_length=LEASE_TOKEN_LENGTH)
    base_version = serializers.IntegerField(
        min_value=0, max_value=2**31 - 2, help_text="The version you saw; 0 where nothing was saved."
    )
    value = AnyValueField(required=False, allow_null=True, default=None)
