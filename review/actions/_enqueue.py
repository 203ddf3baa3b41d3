"""How an action leaves work behind: a task's dotted name and ids, in the transaction that makes the work due."""

from django_q.tasks import async_task

OPEN_DOCUMENT = "review.tasks.open_document"
READ_PAGE = "review.tasks.read_page"
ROUTE_RUN = "review.tasks.route_run"
WRITE_EXPORT = "review.tasks_exports.write_export"
TAKE_SNAPSHOT = "review.tasks_snapshots.take_snapshot"
READ_REGION = "review.tasks_regions.read_region"
READ_SHADOW = "review.tasks_rollouts.read_shadow"
COMPARE_ROLLOUT = "review.tasks_rollouts.compare_rollout"
TRAIN = "review.tasks_training.train"
DESK_QUEUE = "stet-desk"
"""The queue of what somebody waits for at a desk: a worker of its own (`review.management.cluster`) sees to it."""
# An export may take hours; the limit is there for one that hangs.
EXPORT_TIMEOUT_SECONDS = 6 * 3600
# A training on 2,000 documents takes minutes; the limit is there for one that hangs.
TRAINING_TIMEOUT_SECONDS = 3600
# To open a document of many pages takes longer than to read one page; so long for each, and a limit for them all.
OPENING_SECONDS_PER_PAGE = 5
OPENING_TIMEOUT_SECONDS = 3600


def enqueue(task: str, object_id: int, *, timeout_seconds: int | None = None) -> None:
    """Queue a task; it vanishes with the transaction if that rolls back. A success leaves no row behind.

    `timeout_seconds` is for a task that may honestly take longer than `Q_CLUSTER["timeout"]`.
    """
    options = {} if timeout_seconds is None else {"timeout": timeout_seconds}
    async_task(task, object_id, save=False, **options)


def enqueue_for_desk(task: str, object_id: int) -> None:
    """Queue what a person waits for: past everything that waits to be read."""
    async_task(task, object_id, save=False, cluster=DESK_QUEUE)


def enqueue_opening(document_id: int, n_pages: int) -> None:
    """Queue the opening of a document that seems to have so many pages."""
    long = min(120 + OPENING_SECONDS_PER_PAGE * n_pages, OPENING_TIMEOUT_SECONDS)
    enqueue(OPEN_DOCUMENT, document_id, timeout_seconds=long if n_pages > 1 else None)
