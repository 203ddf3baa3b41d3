"""The product's settings with a second or two for a task, so that what takes longer is seen to be ended."""

from ocrsite.settings import *  # noqa: F403
from ocrsite.settings import Q_CLUSTER

TASK_SECONDS = 2
Q_CLUSTER = Q_CLUSTER | {"timeout": TASK_SECONDS}
# They would stop the start: the limits on opening and reading are far above that.
SILENCED_SYSTEM_CHECKS = ["review.E005", "review.E006"]
