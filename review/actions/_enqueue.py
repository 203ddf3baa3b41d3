"""How an action leaves work behind: a task's dotted name and ids, in the transaction that makes the work due."""

from django_q.tasks import async_task

OPEN_DOCUMENT = "review.tasks.open_document"
READ_PAGE = "review.tasks.read_page"
ROUTE_RUN = "review.tasks.route_run"
WRITE_EXPORT = "review.tasks.write_export"


def enqueue(task: str, object_id: int) -> None:
    """Queue a task; it vanishes with the transaction if that rolls back. A success leaves no row behind."""
    async_task(task, object_id, save=False)
