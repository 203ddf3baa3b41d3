"""Documents, their pages and fields."""

from typing import Any

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from review import words
from review.api.field_words import telling
from review.api.fields import (
    AnyValueField,
    BandField,
    BoxField,
    ObjectField,
    ReadSerializer,
    ReasonsField,
    WriteSerializer,
)
from review.api.serializers.records import RecordSerializer
from review.models import Document, DocumentStatus, Page
from review.selectors.documents import DocumentDetail, FieldView, shown_status
from review.selectors.workers import NO_MODEL


class SuggestionSerializer(ReadSerializer):
    """Another document type that the first page looks like; null where the document's own will do."""

    document_type = serializers.SlugField(source="suggested_type.slug")
    chance = serializers.FloatField(source="suggested_chance", min_value=0, max_value=1)
    n_documents = serializers.IntegerField(source="suggested_from", help_text="From how many it was learned.")

    def to_representation(self, instance: Document) -> dict[str, Any] | None:  # type: ignore[override]  # null, too
        """Return the suggestion."""
        return super().to_representation(instance) if instance.suggested_type_id is not None else None


class DocumentSerializer(ReadSerializer):
    """A document as lists show it. Context: `project` (slug), and `workers` where many are shown."""

    id = serializers.IntegerField()
    document_type = serializers.SlugField(source="document_type.slug")
    filename = serializers.CharField()
    media_type = serializers.CharField()
    n_bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    status = serializers.SerializerMethodField(
        help_text="“waiting” is shown, never stored: nothing goes on because no worker is there, or because the "
        "project's language model cannot be asked."
    )
    band = BandField()
    reasons = ReasonsField(help_text="Why a person must look, or why the file is unreadable; gravest first.")
    priority = serializers.IntegerField()
    n_pages = serializers.IntegerField()
    n_pages_read = serializers.IntegerField()
    duplicate_of = serializers.IntegerField(
        source="duplicate_of_id", allow_null=True, help_text="The earlier document with the same bytes, read once."
    )
    suggestion = serializers.SerializerMethodField(help_text="What its first page looks like, if not its own type.")
    received_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(SuggestionSerializer(allow_null=True))
    def get_suggestion(self, shown: Document | DocumentDetail) -> dict[str, Any] | None:
        """Return the suggestion, null where the document's own type will do."""
        document = shown.document if isinstance(shown, DocumentDetail) else shown
        return SuggestionSerializer().to_representation(document)

    @extend_schema_field(serializers.ChoiceField(choices=DocumentStatus.choices))
    def get_status(self, document: Document) -> str:
        """Return the status to show."""
        shown = shown_status(document, workers=self.context.get("workers"))
        return DocumentStatus.WAITING.value if shown == NO_MODEL else shown


class ReceivedSerializer(DocumentSerializer):
    """What an upload is answered with."""

    is_duplicate = serializers.SerializerMethodField()

    def get_is_duplicate(self, document: Document) -> bool:
        """Return whether the same bytes had come before; then nothing is read twice."""
        return document.duplicate_of_id is not None


class UploadSerializer(WriteSerializer):
    """One file. For many files send many requests."""

    file = serializers.FileField(
        allow_empty_file=True, max_length=None, help_text="JPEG, PNG, WebP, TIFF, HEIC or PDF, judged by its content."
    )
    document_type = serializers.SlugField(max_length=50, help_text="The slug of a document type of the project.")
    priority = serializers.IntegerField(
        min_value=-100, max_value=100, required=False, default=0, help_text="Higher is reviewed sooner."
    )
    predictions = serializers.CharField(
        required=False,
        default="",
        max_length=1_000_000,
        help_text=(
            'What another engine read, as JSON: {"engine": {"name", "version"}, "fields": [{"field_path", "value", '
            '"confidence", "page_number", "bbox"}]}. See docs/exports.md.'
        ),
    )


class TypeSerializer(WriteSerializer):
    """What a document is."""

    document_type = serializers.SlugField(max_length=50, help_text="The slug of a document type of the project.")


class RerunSerializer(WriteSerializer):
    """How to read again; an empty body is one."""

    reopen = serializers.BooleanField(
        required=False, default=False, help_text="Read it although a reviewer marked it as unusable."
    )


class PageSerializer(ReadSerializer):
    """One page, upright; `image` is where its picture is."""

    page_number = serializers.IntegerField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    quality = ObjectField()
    image = serializers.SerializerMethodField()

    @extend_schema_field(OpenApiTypes.URI)
    def get_image(self, page: Page) -> str:
        """Return the address of the picture."""
        return _address(
            self, "api:page_image", project=self.context["project"], id=page.document_id, number=page.page_number
        )


class FieldSerializer(ReadSerializer):
    """One field: `value` is what was read, `accepted` what the record says."""

    field_path = serializers.CharField(source="path", help_text="JSON Pointer, such as /line_items/0/amount.")
    labels = ObjectField(help_text="What people read, by language.")
    value_type = serializers.CharField()
    is_required = serializers.BooleanField()
    value = AnyValueField(allow_null=True)
    raw_text = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    evidence = ObjectField(help_text="What the confidence was made from, by name.")
    findings = ReasonsField(help_text="What is wrong with the value; “rule:…” is a rule of the document type.")
    band = BandField()
    reasons = ReasonsField()
    why = serializers.SerializerMethodField(help_text="Findings and reasons as sentences in the request’s language.")
    is_to_examine = serializers.BooleanField(help_text="Whether a reviewer of this document must look at it.")
    page_number = serializers.IntegerField(allow_null=True)
    bbox = BoxField(allow_null=True)
    accepted = AnyValueField(allow_null=True)
    provenance = ObjectField(allow_null=True, help_text="Who says so: a model under a policy, or a person.")

    def get_why(self, field: FieldView) -> list[str]:
        """Return what is wrong, or what the field was drawn for."""
        return words.reasons_in_words(telling(field.findings, field.reasons), field.rule_messages)


class DocumentDetailSerializer(DocumentSerializer):
    """A document with everything that is known of it; shows a `DocumentDetail`."""

    original = serializers.SerializerMethodField()
    engine = serializers.CharField(source="run.engine_version.name", allow_null=True, default=None)
    schema_version = serializers.IntegerField(source="run.schema_version.number", allow_null=True, default=None)
    policy = serializers.IntegerField(source="decision.policy.number", allow_null=True, default=None)
    unusable_reason = serializers.CharField(
        allow_null=True, help_text="What the reviewer wrote who marked the document as unusable; null for any other."
    )
    pages = PageSerializer(many=True)
    fields = FieldSerializer(many=True)  # type: ignore[assignment]  # declared fields leave the class
    record = RecordSerializer(allow_null=True)
    is_withheld = serializers.BooleanField(
        help_text="You may be asked about this document: `record` and what was accepted are null as long as that is so."
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, those of the list taken from the detail's document."""
        fields = super().get_fields()
        for name, field in fields.items():
            if name in DocumentSerializer._declared_fields and field.source != "*":
                field.source = f"document.{field.source or name}"
        return fields

    @extend_schema_field(serializers.ChoiceField(choices=DocumentStatus.choices))
    def get_status(self, detail: DocumentDetail) -> str:  # type: ignore[override]  # shows a detail, see above
        """Return the status to show."""
        return detail.status

    @extend_schema_field(OpenApiTypes.URI)
    def get_original(self, detail: DocumentDetail) -> str:
        """Return the address of the file as it was sent."""
        return _address(self, "api:document_original", project=self.context["project"], id=detail.document.pk)


def _address(serializer: serializers.BaseSerializer[Any], name: str, **kwargs: object) -> str:
    path = reverse(name, kwargs=kwargs)
    request = serializer.context.get("request")
    return request.build_absolute_uri(path) if request is not None else path
