"""The least chance of a look that a policy leaves any value that is stored: below it no inclusion probability lies."""

from collections.abc import Collection

from review.routing.bands import Band
from review.routing.decide import base_share
from review.routing.policy import PolicyRules


def least_share(rules: PolicyRules, required_paths: Collection[str]) -> float:
    """Return the floor in (0, 1] that `review.routing.thinning` reckons with.

    `required_paths` are the fields that decide about a document, rows as `*`. No document is in band AUTO where a
    required field outside of tables never is, or where no field is at all: then the rate of audits of that band counts
    for nothing. (A table may have no rows, so its columns exclude nothing.)
    """
    bands = [Band.SAMPLED, Band.REVIEW]
    never_auto = any(rules.thresholds_for(path).auto is None for path in required_paths if "*" not in path)
    if not never_auto and any(limits.auto is not None for limits in (rules.default, *rules.fields.values())):
        bands.append(Band.AUTO)
    return min(rules.least_sampled_share if band is Band.SAMPLED else base_share(band, rules) for band in bands)
