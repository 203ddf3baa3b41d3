"""Exports."""

from django.conf import settings
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from review.api.fields import MomentField, ReadSerializer, WriteSerializer
from review.models import DatasetExport, WorkState
from review.selectors.exports import sign_download


class ExportSerializer(ReadSerializer):
    """An export and how far it is. Ask again until `state` is done, failed or cancelled."""

    id = serializers.IntegerField()
    format = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    state = serializers.ChoiceField(choices=WorkState.choices)
    n_records = serializers.IntegerField()
    n_written = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the file, once it is done.")
    error_code = serializers.CharField(help_text="Why it failed.")
    error_detail = serializers.DictField(
        child=serializers.IntegerField(), help_text="document_id and page_number where a page is why; else empty."
    )
    requested_by = serializers.CharField(source="requested_by.username", allow_null=True, default=None)
    snapshot_at = serializers.DateTimeField(help_text="The records as they stood then.")
    finished_at = serializers.DateTimeField(allow_null=True)
    download_url = serializers.SerializerMethodField(
        help_text="A signed link that needs no credentials and expires; a fresh one with every answer. Null until done."
    )
    download_expires_in_seconds = serializers.SerializerMethodField()

    @extend_schema_field({"type": "string", "format": "uri", "nullable": True})
    def get_download_url(self, export: DatasetExport) -> str | None:
        """Return a fresh link to the file, None before there is one."""
        if export.state != WorkState.DONE:
            return None
        path = reverse("api:export_download", kwargs={"token": sign_download(export)})
        request = self.context.get("request")
        return request.build_absolute_uri(path) if request is not None else path

    @extend_schema_field(OpenApiTypes.INT)
    def get_download_expires_in_seconds(self, export: DatasetExport) -> int:  # noqa: ARG002 - the library's signature
        """Return for how long a link is good."""
        return settings.STET_DOWNLOAD_SECONDS


class ExportOrderSerializer(WriteSerializer):
    """What to export."""

    format = serializers.CharField(max_length=10, help_text="jsonl or csv.")
    since = MomentField(
        required=False, allow_null=True, default=None, help_text="Only revisions made since then; a date is its 0:00."
    )
