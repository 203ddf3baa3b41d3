"""What a single value must satisfy to be believed; cross-checks between fields come with B4."""

import re
from functools import cache

from inference.fields.normalise import Normalised
from inference.types import FieldSpec


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a hint's regular expression, case ignored: prints come in capitals."""
    return re.compile(pattern, re.IGNORECASE)


def findings_of(spec: FieldSpec, text: str, normalised: Normalised) -> tuple[str, ...]:
    """Return the codes of what is wrong with one field's text and value, the normaliser's own first."""
    findings = list(normalised.findings)
    if normalised.value is None and not findings:
        findings.append("not_normalised")
    if spec.pattern is not None and not compiled(spec.pattern).search(text):
        findings.append("pattern_mismatch")
    return tuple(findings)
