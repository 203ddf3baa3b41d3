"""Codes in words: every reason, finding, status and number that is stored, as a sentence a person understands.

`tests/review/test_words.py` asserts that no code of the reader or of the router is without words.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.formats import localize
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_lazy as _

Words = Mapping[str, Any]

STATUSES: Words = {
    "received": _("received"),
    "processing": _("being read"),
    "waiting": _("waiting: no worker"),
    "waiting_for_model": _("waiting: model server away"),
    "review": _("in review"),
    "stored": _("stored"),
    "unreadable": _("unreadable"),
}
STATUS_HINTS: Words = {
    "received": _("It is in the queue; the next free worker opens it."),
    "processing": _("Its pages are being read."),
    "waiting": _("No worker is running. Start one with “manage.py serve” or “manage.py work”; nothing is lost."),
    "waiting_for_model": _(
        "The server of this project’s language model is away, or serves another version. It goes on by itself when the "
        "server is back; nothing is lost."
    ),
    "review": _("A person must look at it before it is stored."),
    "stored": _("Its values are stored and can be used."),
    "unreadable": _("The file could not be opened. Nothing was stored."),
}
BANDS: Words = {
    "auto": _("sure: stored without a look"),
    "sampled": _("fairly sure: stored, some are checked"),
    "review": _("doubtful: a person looks"),
}
BAND_NAMES: Words = {"auto": _("sure"), "sampled": _("fairly sure"), "review": _("doubtful")}

# Why a document or a field was routed as it was (`review.routing.reasons`).
REASONS: Words = {
    "engine_failed": _("the reader failed on it"),
    "answer_cut_short": _("the language model’s answer was cut short"),
    "answer_repeats": _("the language model repeated itself"),
    "answer_empty": _("the language model found nothing on a page that has text"),
    "answer_unreadable": _("the language model’s answer could not be understood"),
    "answer_invalid": _("the language model’s answer does not fit the document type"),
    "answer_lost": _("the language model broke off while it was reading"),
    "answer_late": _("the language model took too long"),
    "routing_failed": _("what was read could not be made into fields"),
    "schema_invalid": _("the values do not fit the document type"),
    "type_doubtful": _("it looks like a document of another type"),
    "rows_left_out": _("the model left out rows that the page seems to have"),
    "low_quality": _("the image is poor"),
    "missing_value": _("a required value was not found"),
    "rule_failed": _("a value breaks a rule"),
    "ambiguous_value": _("a value can be read in two ways"),
    "missing_confidence": _("nothing says how sure the reading is"),
    "low_confidence": _("the reading is not sure enough"),
    "stopped_by_monitor": _("the field is stopped: too many of its stored values were found wrong"),
    "not_certified": _("its target is not certified for the engine version that read it"),
    "engine_not_proven": _("the engine version has passed no self-test yet"),
    "nothing_read": _("no text was found on it"),
    "full_examination": _("drawn at random to have every field checked"),
    "audit_sampled": _("drawn at random for a check of fairly sure values"),
    "audit_auto": _("drawn at random for a check of sure values"),
    "duplicate": _("the same file was sent before"),
}
# What an unfinished document waits for.
WAITS: Words = {
    "engine_unavailable": _("waits for its reader, which cannot be had now"),
    "version_not_served": _("waits for its language model, whose server serves another version"),
    "unknown_engine": _("waits for a reader that does not exist; a manager must choose another"),
    "storage_full": _("waits for room in the storage"),
}
FOLLOWED = ("full_examination", "audit_sampled", "audit_auto", "duplicate")
# Why a file could not become pages (`inference.errors`).
REFUSALS: Words = {
    "empty_file": _("the file is empty"),
    "unknown_type": _("it is no kind of file that can be read"),
    "too_many_bytes": _("the file is too large"),
    "too_many_pixels": _("a page has too many pixels"),
    "too_many_pages": _("it has too many pages"),
    "truncated": _("the end of the file is missing"),
    "damaged": _("the file is damaged"),
    "encrypted": _("the file is protected by a password"),
    "no_pages": _("there is no page in it"),
    "time_limit": _("it took too long to open"),
    "memory_limit": _("it took too much memory to open"),
}
# What is wrong with one value (`inference.fields`).
FINDINGS: Words = {
    "not_found": _("not found on the page"),
    "not_normalised": _("found, but not understood as a value"),
    "pattern_mismatch": _("does not look as this field usually does"),
    "not_grounded": _("not found among the words of the page"),
    "answer_repaired": _("the model's answer had to be mended before it could be read"),
    "second_look_failed": _("the page was to be read a second time for this value, and could not be"),
    "pages_disagree": _("another page says something else"),
    "left_out": _("the model left it out, though the page seems to have it"),
    "rows_left_out": _("the model left out rows that the page seems to have"),
    "accents_dropped": _("accents were left out"),
    "amount_ambiguous": _("the decimal mark could be a thousands mark"),
    "amount_marks_mixed": _("decimal and thousands marks are mixed"),
    "currency_ambiguous": _("the currency sign stands for several currencies"),
    "date_ambiguous": _("day and month could be the other way round"),
    "date_era_ambiguous": _("the year could be of another calendar"),
    "date_without_day": _("only the month is given, without a day"),
    "date_impossible": _("there is no such date"),
    "date_implausible": _("the date lies too far away"),
    "date_order_unusual": _("day and month stand in an unusual order"),
    "date_several": _("several different dates stand there"),
    "id_checksum": _("its check digit is wrong"),
    "id_length": _("it has too many or too few characters"),
    "id_format": _("it is not written as such numbers are"),
    "id_component": _("a part of it cannot exist in such numbers"),
    "number_several": _("several different numbers stand there"),
    "number_too_long": _("the number has too many digits"),
    "ocr_digit_repaired": _("a letter was taken for a digit"),
    "phone_implausible": _("no phone number has this many digits"),
    "schema": _("does not fit the document type"),
    # Of a rule between fields that has no words of its own; those of a type's rules stand in its schema.
    "rule": _("does not fit the other values"),
}
# What a confidence was made from (`inference.fields.score`, `inference.fields.answer_score`).
EVIDENCE: Words = {
    "share": _("share of belief among the candidates"),
    "margin": _("lead over the next candidate"),
    "keyword": _("a keyword stands near it"),
    "agreement": _("the same value stands elsewhere too"),
    "pattern": _("looks as this field usually does"),
    "ocr_score": _("how clearly the letters were read"),
    "region": _("stands where this field usually stands"),
    "quality": _("quality of the image"),
    "only": _("the only value of its kind on the page"),
    "boundary": _("its text begins and ends where the print does"),
    "rules": _("agrees with the other values"),
    "grounding": _("found among the words of the page"),
    "digits": _("its digits are printed so"),
    "edges": _("no more text stands before or behind it"),
    "readers_agree": _("the second reader chose the same value"),
    "in_row": _("stands in line with the other values of its row"),
    "token_min": _("probability of its least sure part"),
    "token_mean": _("mean probability of its parts"),
    "token_margin": _("smallest lead of a part over its rival"),
    "token_entropy": _("largest uncertainty of a part"),
    "n_tokens": _("number of its parts"),
    "vote_agreement": _("read alike at two sizes"),
    "reader_confidence": _("what the reader itself said, before its confidence was calibrated"),
}
VERDICTS: Words = {
    "confirmed": _("confirmed"),
    "corrected": _("corrected"),
    "missing": _("missing on the page"),
    "spurious": _("should not be there"),
    "illegible": _("illegible"),
}
VALUE_TYPES: Words = {
    "text": _("text"),
    "name": _("name"),
    "address": _("address"),
    "amount": _("amount"),
    "number": _("number"),
    "date": _("date"),
    "id": _("identifier"),
    "phone": _("phone number"),
    "currency": _("currency"),
}
# Acts on a document and on its review tasks, as the audit names them.
ACTS: Words = {
    "document.received": _("received"),
    "document.opened": _("opened"),
    "document.page_read": _("page read"),
    "document.routed": _("read and routed"),
    "document.failed": _("could not be read"),
    "document.reviewed": _("review finished"),
    "document.rerun": _("read again"),
    "document.restarted": _("begun anew, since the reader has changed"),
    "document.type_changed": _("moved to another document type, and read again"),
    "document.type_kept": _("its document type found right"),
    "review_task.created": _("review asked for"),
    "review_task.leased": _("taken for review"),
    "review_task.released": _("given back"),
    "review_task.skipped": _("skipped"),
    "review_task.saved": _("field saved"),
    "review_task.submitted": _("submitted"),
    "review_task.unusable": _("marked unusable"),
    "review_task.cancelled": _("review cancelled"),
    "review_task.prioritised": _("priority changed"),
    "review_task.assigned": _("kept for a reviewer"),
}
# Prices, the parts of a cost, and what can be wrong with a price (`review.accuracy.costs`).
PRICES: Words = {
    "currency": _("Currency"),
    "cpu_hour": _("CPU core hour"),
    "gpu_hour": _("GPU hour"),
    "storage_gb_month": _("GB of storage for a month"),
    "storage_months": _("months for which files are kept"),
    "person_hour": _("hour of a reviewer"),
    "operations_month": _("operations for a month"),
}
COST_PARTS: Words = {
    "cpu": _("processors"),
    "gpu": _("graphics processors"),
    "storage": _("storage"),
    "people": _("people"),
    "operations": _("operations"),
}
PRICE_PROBLEMS: Words = {
    "must be three capital letters, such as EUR": _("give three capital letters, such as EUR"),
    "must be a number from 0 to 1,000,000,000": _("give a number from 0 to 1,000,000,000"),
}
# What can be wrong with the rules of a policy (`review.routing.policy`), and the names of its parts.
POLICY_PROBLEMS: Words = {
    "must be a number from 0 to 1": _("give a number from 0 to 1"),
    "must be a number from 0 to 1, or null for never": _("give a number from 0 to 1, or nothing for “never”"),
    "must not be above auto": _("the limit for a look lies above the limit for storing without one"),
    "must be a number above 0 and at most 1": _("give a number above 0 and at most 1; some must be looked at"),
}
POLICY_PARTS: Words = {
    "default": _("every other field"),
    "audit_auto_share": _("share of sure documents that is checked"),
    "audit_sampled_share": _("share of fairly sure documents that is checked"),
    "full_examination_share": _("share of doubtful documents in which every field is checked"),
}
# How long work has waited and who has it (`review.selectors.queue`).
AGES: Words = {
    "hour": _("less than an hour"),
    "day": _("an hour to a day"),
    "week": _("a day to a week"),
    "older": _("more than a week"),
}
HOLDINGS: Words = {
    "free": _("free to take"),
    "held": _("being worked on"),
    "assigned": _("kept for somebody"),
}
EXPORT_FAILURES: Words = {
    "storage_full": _("the storage is full; free some space and ask again"),
    "gave_up": _("it was interrupted too often; ask again"),
    "export_failed": _("the writer failed; tell your administrator"),
    "snapshot_failed": _("the taker failed; tell your administrator"),
    "snapshot_changed": _("what was frozen is no longer what it was; take a new one"),
    "page_changed": _("the picture of a page is missing or is no longer what was opened; put the file back"),
    "held_out_unknown": _("it is not known what a regression set looks like; import the set again"),
}
LEFT_OUT: Words = {
    "in_review": _("wait for a person"),
    "on_their_way": _("are on their way"),
    "unreadable": _("are unreadable"),
    "copies": _("are copies of others"),
    "not_by_people": _("were not settled by people as was asked"),
    "held_out": _("belong to a regression set or look like it"),
    "personal_not_located": _("have a personal value that nobody has located"),
}
FIELD_STATES: Words = {
    "confirmed": _("confirmed"),
    "corrected": _("corrected"),
    "missing": _("missed by the reader"),
    "spurious": _("not on the page"),
    "illegible": _("illegible"),
    "model": _("seen by nobody"),
}
# Lower bounds of what a confidence is called, surest first. Words, since an uncalibrated percentage says too much.
CONFIDENCE_STEPS = ((0.97, _("certain")), (0.9, _("very likely")), (0.75, _("likely")), (0.5, _("uncertain")))


def say(words: Words, code: str) -> str:
    """Return the words for a code; an unknown one is shown as it is, without its underscores."""
    return str(words[code]) if code in words else code.replace("_", " ")


def reasons_in_words(codes: Iterable[str], rules: Mapping[str, Mapping[str, str]] | None = None) -> list[str]:
    """Return the sentences for reasons, refusals or findings, each once, in their order.

    `rules` are the messages of a document type's own rules by code and language (`FieldSpec.rule_messages`).
    """
    known = {**REASONS, **REFUSALS, **FINDINGS, **WAITS}
    own = rules or {}
    said = (label_of(own[code]) if code in own else say(known, _kind_of(code, known)) for code in codes)
    return list(dict.fromkeys(said))


def _kind_of(code: str, known: Words) -> str:
    """Return the code whose words are said: which keyword of a schema is broken says nothing to a person."""
    if code in known:
        return code
    return next((kind for kind, start in (("schema", "schema_"), ("rule", "rule:")) if code.startswith(start)), code)


def standing_in_words(status: str, band: str, reasons: Iterable[str]) -> str:
    """Return why a document stands where it stands, in one line.

    What is stored has passed: of its reasons only those are said that a look, or another document, follows from.
    """
    if status in ("waiting", "waiting_for_model"):
        return say(STATUS_HINTS, status)
    if status != "stored":
        return joined(reasons_in_words(reasons))
    followed = reasons_in_words(code for code in reasons if code in FOLLOWED)
    return joined([say(BANDS, band), *followed] if band else followed)


def joined(sentences: Iterable[str]) -> str:
    """Return sentences in one line, as the reader's language lists them."""
    return gettext("; ").join(sentences)


def confidence_in_words(confidence: float | None) -> str:
    """Return how sure a reading is, in a word."""
    if confidence is None:
        return gettext("unknown")
    return str(next((word for bound, word in CONFIDENCE_STEPS if confidence >= bound), _("unlikely")))


def label_of(labels: Mapping[str, str], fallback: str = "") -> str:
    """Return a document type's or a field's label in the reader's language, English where there is none."""
    language = (get_language() or "en").split("-")[0]
    return labels.get(language) or labels.get("en") or fallback


def cost_source(part: str, measured: Any) -> str:  # noqa: ANN401 - `review.accuracy.costs.Measured`
    """Return from which measured figure a part of the cost comes; nothing where it was not measured."""
    quantity, text = {
        "cpu": (measured.cpu_seconds, gettext("%(n)s CPU seconds a page")),
        "gpu": (measured.gpu_seconds, gettext("%(n)s GPU seconds a page")),
        "storage": (measured.n_bytes, gettext("%(n)s a page")),
        "people": (measured.person_seconds, gettext("%(n)s seconds of a person’s work a page")),
        "operations": (measured.n_pages_month, gettext("%(n)s pages a month")),
    }[part]
    if quantity is None:
        return ""
    if part == "storage":
        return text % {"n": bytes_in_words(int(quantity))}
    return text % {"n": localize(round(quantity) if part == "operations" else round(quantity, 2))}


def bucket_in_words(bucket: str) -> str:
    """Return a confidence bucket in words: from, to, or that there was none."""
    return gettext("none given") if bucket == "missing" else bucket.replace("-", " – ")


def bytes_in_words(n_bytes: int) -> str:
    """Return a size with a unit."""
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return ngettext("%(n)d byte", "%(n)d bytes", n_bytes) % {"n": n_bytes}


def seconds_in_words(seconds: float) -> str:
    """Return a duration in its largest whole unit."""
    whole = int(seconds)
    if whole >= 172_800:
        return gettext("%(n)d days") % {"n": whole // 86_400}
    if whole >= 7_200:
        return gettext("%(n)d hours") % {"n": whole // 3_600}
    if whole >= 120:
        return gettext("%(n)d minutes") % {"n": whole // 60}
    return ngettext("%(n)d second", "%(n)d seconds", whole) % {"n": whole}
