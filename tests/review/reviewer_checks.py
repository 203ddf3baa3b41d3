"""What was found of a reviewer's answers, as rows, without the second looks that find it."""

from review.models import CheckSource, ReviewerCheck, ReviewTask, User


def check(
    task: ReviewTask,
    reviewer: User,
    n: int,
    *,
    is_right: bool | None,
    is_agreed: bool | None = True,
    source: CheckSource = CheckSource.SECOND_REVIEW,
    inclusion_probability: float = 0.1,
) -> None:
    taken = ReviewerCheck.objects.count()
    ReviewerCheck.objects.bulk_create(
        ReviewerCheck(
            project=task.project,
            document_type=task.document_type,
            task=task,
            field_path=f"/field{taken + number}",
            reviewer=reviewer,
            source=source,
            is_agreed=is_agreed,
            is_right=is_right,
            inclusion_probability=inclusion_probability,
        )
        for number in range(n)
    )
