"""The filters of the templates: numbers and ages as people read them."""

from datetime import timedelta

import pytest
from django.template import Context, Template
from django.utils import timezone, translation
from django.utils.html import escape

from review.web import tags


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0.0 %"), (0.9915, "99.2 %"), (0.99999, "99.9 %"), (1.0, "100.0 %"), (0.5, "50.0 %"), (None, "–")],
)
def test_only_a_whole_share_is_called_all(share: float | None, text: str) -> None:
    with translation.override("en"):
        assert tags.percent(share) == text


@pytest.mark.parametrize(("bucket", "text"), [("0.90-0.95", "0.90 – 0.95"), ("missing", "none given")])
def test_buckets_are_read_as_ranges(bucket: str, text: str) -> None:
    with translation.override("en"):
        assert tags.bucket_in_words(bucket) == text


def test_ages_never_lie_in_the_future() -> None:
    with translation.override("en"):
        assert tags.age_of(timezone.now() + timedelta(minutes=5)) == "0 seconds"
        assert tags.age_of(timezone.now() - timedelta(minutes=5)) == "5 minutes"
        assert tags.age_of(None) == ""


def test_attributes_hold_numbers_as_programs_write_them() -> None:
    with translation.override("de"):
        assert tags.unlocalized(1234.5) == "1234.5"


@pytest.mark.parametrize("name", tags.IN_WORDS)
def test_each_table_of_words_has_its_filter(name: str) -> None:
    code = next(iter(tags.IN_WORDS[name]))
    shown = Template("{% load stet %}{{ code|" + name + " }}").render(Context({"code": code}))
    assert shown == escape(str(tags.IN_WORDS[name][code]))
    assert Template("{% load stet %}{{ 'no_such_code'|" + name + " }}").render(Context()) == "no such code"
