"""What a single value must satisfy to be believed; rules between fields are in `cross_rules`."""

import re
from functools import cache

from stdnum.exceptions import InvalidChecksum, InvalidComponent, InvalidLength, ValidationError

from inference.fields.normalise import Normalised
from inference.types import FieldSpec
from inference.types.id_schemes import scheme_module


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
    if spec.id_scheme is not None and normalised.value is not None:
        findings.extend(id_findings(spec.id_scheme, normalised.value))
    return tuple(findings)


def id_findings(scheme: str, number: str) -> tuple[str, ...]:
    """Return what is wrong with a number of a scheme ("cn.uscc"): its check digit, length, form or a part of it.

    Raise ValueError when there is no such scheme; a document type that names one is refused.
    """
    module = scheme_module(scheme)
    if module is None:
        raise ValueError(scheme)
    findings: tuple[str, ...] = ()
    try:
        module.validate(number)
    except InvalidChecksum:
        findings = ("id_checksum",)
    except InvalidLength:
        findings = ("id_length",)
    except InvalidComponent:
        findings = ("id_component",)
    except ValidationError:
        findings = ("id_format",)
    return findings
