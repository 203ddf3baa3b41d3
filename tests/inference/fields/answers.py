"""Readings with an answer for the tests."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.types import PageAnswer, PageReading
from tests.inference.fields.pages import Line, reading


def answered(
    values: Mapping[str, Any],
    *items: Line,
    repairs: tuple[str, ...] = (),
    evidence: Mapping[str, Mapping[str, float]] | None = None,
    **more: Any,
) -> PageReading:
    """Return a page of words, given as (text, x, y), with a model's answer to it."""
    answer = PageAnswer(values, is_repaired=bool(repairs), repairs=repairs, evidence=evidence or {}, **more)
    return replace(reading(*items), answer=answer)
