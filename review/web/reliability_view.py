"""What a calibrator made of a field's confidence: promise against what was kept, before and after, of unseen labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

Bucket = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CalibratedField:
    """The confidence buckets of one field, as `review.accuracy.reliability` keeps them, before and after."""

    label: str
    path: str
    before: Sequence[Bucket]
    after: Sequence[Bucket]

    @property
    def chart(self) -> dict[str, Any]:
        """Return what the reliability diagram draws: promise, what was kept with its interval, and n."""
        return {
            "points": [_point(bucket) for bucket in self.after],
            "before": [_point(bucket) for bucket in self.before],
            "promised": gettext("confidence"),
            "kept": gettext("right"),
            "ideal": gettext("kept as promised"),
            "names": [gettext("after"), gettext("before")],
        }

    @property
    def rows(self) -> Iterator[tuple[str, Bucket]]:
        """Yield the table's rows: which of the two, and the bucket."""
        for name, buckets in ((gettext("before"), self.before), (gettext("after"), self.after)):
            for bucket in buckets:
                yield name, bucket


def calibrated_field(path: str, label: str, metrics: Mapping[str, Any]) -> CalibratedField | None:
    """Return the diagram of a field from a calibrator's figures; None where its confidence stays as it was."""
    after = metrics["after"].get("reliability", [])
    if metrics["method"] == "identity" or not after:
        return None
    return CalibratedField(label, path, metrics["before"].get("reliability", []), after)


def _point(bucket: Bucket) -> list[float]:
    kept = bucket["accuracy"]
    return [bucket["mean_confidence"], kept["point"], kept["lower"], kept["upper"], kept["n"]]
