"""What ids in paths look like. Anything else is no path of ours, so it never reaches the database."""

from django.urls.converters import IntConverter


class IdConverter(IntConverter):
    """A positive integer of at most 18 digits, which fits 64 bits."""

    regex = "[1-9][0-9]{0,17}"


class NumberConverter(IntConverter):
    """A count from 1 of at most 9 digits, which fits 31 bits: a page, a version, a policy."""

    regex = "[1-9][0-9]{0,8}"
