"""What people may type or choose on the pages."""

from datetime import UTC, datetime, time

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from review import words
from review.models import DocumentStatus, DocumentType, Holding, Membership, Personal, Population, Project, Role
from review.selectors.documents import ANOTHER_TYPE

EXPORT_FORMATS = [("jsonl", "JSON Lines"), ("csv", "CSV")]
SNAPSHOT_FORMATS = [
    *EXPORT_FORMATS,
    ("parquet", "Parquet (Hugging Face datasets)"),
    ("imagefolder", "imagefolder (Hugging Face datasets)"),
    ("openai", "OpenAI messages"),
    ("llamafactory", "LLaMA-Factory (ShareGPT)"),
    ("swift", "ms-swift"),
    ("trl", "TRL"),
    ("preference", "TRL, preference pairs"),
    ("paddleocr_det", "PaddleOCR detection"),
    ("paddleocr_rec", "PaddleOCR recognition"),
    ("paddleocr_vl", "PaddleOCR-VL (ERNIEKit)"),
    ("label_studio", "Label Studio"),
    ("coco", "COCO"),
    ("funsd", "FUNSD"),
    ("sroie", "SROIE"),
    ("cord", "CORD"),
]


class FilterForm(forms.Form):
    """What narrows the list of documents; every field may be left open."""

    def __init__(self, data: QueryDict, *, document_types: list[DocumentType]) -> None:
        super().__init__(data)
        anything = ("", _("any"))
        types = [(one.slug, words.label_of(one.labels, one.slug)) for one in document_types]
        # Whatever is waited for.
        statuses = [(code, {**words.STATUSES, "waiting": _("waiting")}[code]) for code in DocumentStatus.values]
        for name, label, choices in (
            ("status", _("Status"), statuses),
            ("band", _("How sure"), list(words.BAND_NAMES.items())),
            ("type", _("Type"), types),
            # Of one type there is no other.
            *([("looks", _("Looks like"), [(ANOTHER_TYPE, _("another type")), *types])] if len(types) > 1 else []),
        ):
            self.fields[name] = forms.ChoiceField(label=label, required=False, choices=[anything, *choices])


class QueueForm(forms.Form):
    """What narrows the review queue; every field may be left open. `reasons` are the codes that occur in it."""

    def __init__(self, data: QueryDict, *, document_types: list[DocumentType], reasons: list[str]) -> None:
        super().__init__(data)
        anything = ("", _("any"))
        types = [(one.slug, words.label_of(one.labels, one.slug)) for one in document_types]
        for name, label, choices in (
            ("reason", _("Why"), [(code, words.say(words.REASONS, code)) for code in reasons]),
            ("type", _("Type"), types),
            ("age", _("Waiting"), list(words.AGES.items())),
            ("holding", _("Who"), list(words.HOLDINGS.items())),
        ):
            self.fields[name] = forms.ChoiceField(label=label, required=False, choices=[anything, *choices])


class FieldForm(forms.Form):
    """Which field of which type, `type:path`, and of which values."""

    def __init__(self, data: QueryDict, *, fields: list[tuple[str, str]], has_population: bool) -> None:
        super().__init__(data)
        choices = fields if has_population else [("", _("all fields")), *fields]
        self.fields["field"] = forms.ChoiceField(label=_("Field"), required=False, choices=choices)
        if has_population:
            self.fields["population"] = forms.ChoiceField(
                label=_("Of"), required=False, choices=Population.choices, initial=Population.READER
            )


class ExportForm(forms.Form):
    """Which export to write."""

    format = forms.ChoiceField(label=_("Format"), choices=EXPORT_FORMATS)
    since = forms.DateField(
        label=_("Only records since"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def since_moment(self) -> datetime | None:
        """Return the start of the chosen day, UTC."""
        day = self.cleaned_data["since"]
        return datetime.combine(day, time.min, tzinfo=UTC) if day else None


class SnapshotForm(forms.Form):
    """What to freeze, and how to split it; the shares are in percent as people say it."""

    holding = forms.ChoiceField(label=_("Holds"), choices=Holding.choices, initial=Holding.REVIEWED)
    personal = forms.ChoiceField(label=_("Personal fields"), choices=Personal.choices, initial=Personal.KEPT)
    seed = forms.CharField(label=_("Seed"), max_length=64, initial="stet")
    validation = forms.FloatField(label=_("Validation, %"), min_value=0, max_value=99, initial=10)
    test = forms.FloatField(label=_("Test, %"), min_value=0, max_value=99, initial=10)

    def clean(self) -> dict[str, object]:
        """Refuse sides that leave nothing to train on."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("validation", 0) + cleaned.get("test", 0) >= 100:
            self.add_error("test", _("Validation and test together must leave something to train on."))
        return cleaned


class SnapshotExportForm(forms.Form):
    """In which form to write a snapshot."""

    format = forms.ChoiceField(label=_("Format"), choices=SNAPSHOT_FORMATS)
    archive = forms.ChoiceField(label=_("Archive"), choices=[("zip", "zip"), ("tar", "tar")])


class SecondLooksForm(forms.Form):
    """How often somebody looks again, in percent as people say it."""

    def __init__(self, data: QueryDict | None, *, project: Project) -> None:
        super().__init__(data)
        for name, label in (
            ("second_review_share", _("Second reviews, share of the reviews in %")),
            ("seeded_share", _("Known values, share of the tasks before which one comes, in %")),
        ):
            # More digits than a person types would come from the share's binary form.
            self.fields[name] = forms.FloatField(
                label=label, min_value=0, max_value=100, initial=round(getattr(project, name) * 100, 6)
            )

    def shares(self) -> dict[str, float]:
        """Return the shares in 0-1."""
        return {name: percent / 100 for name, percent in self.cleaned_data.items()}


class TokenForm(forms.Form):
    """A new token for a member of the project."""

    name = forms.CharField(label=_("What is it for?"), max_length=100)
    username = forms.ChoiceField()
    role = forms.ChoiceField(label=_("With at most this role"), choices=Role.choices)

    def __init__(self, data: QueryDict | None, *, members: list[Membership]) -> None:
        super().__init__(data)
        self.members = members
        names = [(one.user.get_username(), f"{one.user.get_username()} ({one.get_role_display()})") for one in members]
        self.fields["username"] = forms.ChoiceField(label=_("It acts as this member"), choices=names)
