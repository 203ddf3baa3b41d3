"""What happens by the clock. django-q2 keeps the schedule in the database; one row for all hosts."""

from django_q.models import Schedule

EVERY_MINUTE = {
    "sweep": "review.tasks.sweep",
    "roll_up": "review.tasks.roll_up",
    "watch_rollouts": "review.tasks_rollouts.watch_rollouts",
}


def ensure_schedules() -> None:
    """Make sure that all of them run every minute; calling it again changes nothing."""
    for name, function in EVERY_MINUTE.items():
        wanted = {
            "func": function,
            "schedule_type": Schedule.MINUTES,
            "minutes": 1,
            "repeats": -1,
            # A success leaves no row behind.
            "kwargs": repr({"q_options": {"save": False}}),
        }
        Schedule.objects.update_or_create(name=name, defaults=wanted)
        Schedule.objects.filter(func=function).exclude(name=name).delete()
