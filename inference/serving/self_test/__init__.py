"""Whether a served version keeps what its answers are trusted for: tried out on itself before values are stored unseen.

Flags of a server may have no effect in one release, log-probabilities may be wrong in another, images may be mixed up
by a cache. None of that shows in a single answer; all of it shows here.
"""

from inference.serving.self_test.report import Check, SelfTestReport
from inference.serving.self_test.run import run_self_test

__all__ = ["Check", "SelfTestReport", "run_self_test"]
