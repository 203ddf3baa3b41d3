"""What the tests of second looks share: a project that draws every review, and people who answer."""

from review.actions.leasing import Lease, lease_task
from review.actions.submitting import FieldVerdict, submit_task
from review.models import Document, GroundTruth, Project, Record, ReviewerCheck, ReviewTask, TaskKind, User
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.actions.review_room import actor

PLANS = {
    "/company": FieldPlan(value="BOOK TA K", confidence=0.5, band="review"),
    "/date": FieldPlan(value="2018-12-25", confidence=0.96, inclusion_probability=0.1, is_to_examine=False),
    "/total": FieldPlan(value="9.00", confidence=0.4, band="review"),
}
"""/company and /total are asked for, /date is not."""

COMPANY = ("/company", "confirmed", None)
TOTAL = ("/total", "corrected", "8.00")
SAME_TOTAL = ("/total", "corrected", "8")
OTHER_TOTAL = ("/total", "corrected", "8.80")


def draw_all(cast: Cast, *, second: float = 1.0, seeded: float = 0.0) -> None:
    """Every review gets a second one."""
    Project.objects.filter(pk=cast.project.pk).update(second_review_share=second, seeded_share=seeded)
    cast.project.refresh_from_db()


def make_first_task(cast: Cast) -> ReviewTask:
    """An open review of a document that was read as PLANS say."""
    return factories.make_routed(cast.document_type, PLANS).review_tasks.get()


def answer(user: User, task: ReviewTask, *answers: tuple[str, str, object]) -> Record:
    """Take a task and submit it with these verdicts."""
    return finish(user, lease_task(actor=actor(user), task=task), *answers)


def finish(user: User, lease: Lease, *answers: tuple[str, str, object]) -> Record:
    """Submit a task that is held."""
    verdicts = [FieldVerdict(*one) for one in answers]
    return submit_task(actor=actor(user), task=lease.task, lease_token=lease.token, verdicts=verdicts)


def look_at(task: ReviewTask, kind: TaskKind) -> ReviewTask:
    """The second review or the adjudication that followed from a first task."""
    return ReviewTask.objects.select_related("document").get(first_task=task, kind=kind)


def second_of(task: ReviewTask) -> ReviewTask:
    """The second review that followed from a first task."""
    return look_at(task, TaskKind.SECOND_REVIEW)


def dispute(cast: Cast, first: User, second: User) -> tuple[ReviewTask, ReviewTask]:
    """Two people who differ on the total; returns the first task and the adjudication."""
    task = make_first_task(cast)
    answer(first, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, OTHER_TOTAL)
    return task, look_at(task, TaskKind.ADJUDICATION)


def checks(task: ReviewTask) -> dict[str, tuple[bool | None, bool | None]]:
    """Whether the reviewer of a task agreed, and was right, by field."""
    found = ReviewerCheck.objects.filter(task=task)
    return {check.field_path: (check.is_agreed, check.is_right) for check in found}


def truth(document: Document) -> dict[str, tuple[object, str]]:
    """What is true of a document, and by whose word, by field."""
    return {one.field_path: (one.value, one.origin) for one in GroundTruth.objects.filter(document=document)}
