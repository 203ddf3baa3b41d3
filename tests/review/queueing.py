"""The queue in tests: what was promised, and doing it in this process."""

from django.utils.module_loading import import_string
from django_q.models import OrmQ
from django_q.signing import SignedPackage


def queued() -> list[tuple[str, int]]:
    """The waiting tasks, oldest first, as (name without module, id)."""
    packages = [SignedPackage.loads(row.payload) for row in OrmQ.objects.order_by("pk")]
    return [(package["func"].rsplit(".", 1)[1], package["args"][0]) for package in packages]


def work_off(limit: int = 200) -> list[tuple[str, int]]:
    """Do waiting tasks one after the other until none is left; return what was done. A failing task ends the test."""
    done: list[tuple[str, int]] = []
    while (row := OrmQ.objects.order_by("pk").first()) is not None and len(done) < limit:
        package = SignedPackage.loads(row.payload)
        row.delete()
        name = package["func"].rsplit(".", 1)[1]
        import_string(package["func"])(*package["args"])
        done.append((name, package["args"][0]))
    return done
