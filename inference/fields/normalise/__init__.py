"""Printed text to canonical values, by value type."""

from inference.fields.normalise.comparison import comparable, folded
from inference.fields.normalise.outcome import Found, Normalised
from inference.fields.normalise.text import clean_text
from inference.fields.normalise.values import TYPED, find_values, normalise

__all__ = ["TYPED", "Found", "Normalised", "clean_text", "comparable", "find_values", "folded", "normalise"]
