"""A base that reads the pages, with what was learned on top, as one engine version."""

from typing import Any

from django.db import transaction

from review.actions._pages import EngineIdentity
from review.models import EngineVersion, ModelKind, TrainedModel


def composed_spec(base: EngineVersion, locator: TrainedModel | None, calibrator: TrainedModel | None) -> dict[str, Any]:
    """Return what a composed version is stored by."""
    return {
        "base": base.digest,
        "locator": locator.sha256 if locator is not None else None,
        "calibrator": calibrator.sha256 if calibrator is not None else None,
    }


def ensure_composed_version(
    base: EngineVersion, locator: TrainedModel | None = None, calibrator: TrainedModel | None = None
) -> EngineVersion:
    """Return the frozen row of `base` with a locator, a calibrator or both, made on first sight; of neither, `base`.

    Within the caller's transaction. A calibrated version comes with the one without its calibrator, whose evidence
    the calibrator is bound to. Raise ValueError for a base that is composed itself, and for a model of another kind.
    """
    if base.base_id is not None:
        raise ValueError("a composed version is no base")
    for model, kind in ((locator, ModelKind.LOCATOR), (calibrator, ModelKind.CALIBRATOR)):
        if model is not None and model.kind != kind:
            raise ValueError(f"a {model.kind} is no {kind}")
    if locator is None and calibrator is None:
        return base
    if locator is not None and calibrator is not None:
        ensure_composed_version(base, locator)
    identity = EngineIdentity.of(base.name, composed_spec(base, locator, calibrator))
    with transaction.atomic():
        version, _ = EngineVersion.objects.get_or_create(
            digest=identity.digest,
            defaults={
                "name": identity.name,
                "spec": dict(identity.spec),
                "base": base,
                "locator": locator,
                "calibrator": calibrator,
            },
        )
    return version
