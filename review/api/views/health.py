"""For probes and monitors: alive, ready, and how much there is to do. Open to all, so nothing of a project is told."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from review.selectors.readiness import Load, load, readiness


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - a view's signature
    """Say that the process answers; touches nothing else, so that a slow database restarts no web server."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Say whether documents can be taken in and read: 200 with every check, 503 when one fails."""
    checks = readiness()
    is_ready = all(check.is_ok for check in checks)
    body = {
        "status": "ready" if is_ready else "not_ready",
        "checks": {check.name: {"is_ok": check.is_ok, "code": check.code} for check in checks},
    }
    return JsonResponse(body, status=200 if is_ready else 503)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return the load in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LoadCollector(load()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class LoadCollector(Collector):
    """One scrape's figures. They come from the database, hence are the same whichever web process answers."""

    def __init__(self, figures: Load) -> None:
        self.figures = figures

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics."""
        figures = self.figures
        yield _gauge(
            "stet_documents_unfinished", "Documents received and not yet routed", figures.n_documents_unfinished
        )
        yield _gauge("stet_review_tasks_open", "Review tasks that wait for a person", figures.n_tasks_open)
        yield _gauge("stet_review_tasks_held", "Open review tasks that somebody holds", figures.n_tasks_held)
        yield _gauge("stet_queue_tasks", "Tasks in the workers' queue", figures.n_queued)
        yield _gauge("stet_queue_oldest_seconds", "Age of the oldest task that waits", figures.oldest_queued_seconds)
        yield _gauge("stet_worker_clusters", "Worker clusters with a recent heartbeat", figures.n_clusters)
        yield _gauge("stet_workers", "Worker processes of these clusters", figures.n_workers)
        pages = CounterMetricFamily("stet_pages_routed", "Pages of routed documents")
        pages.add_metric([], figures.n_pages_routed)
        yield pages
        near = CounterMetricFamily("stet_pages_near_duplicate", "Pages not read, since one that looks the same was")
        near.add_metric([], figures.n_pages_near_duplicate)
        yield near
        documents = CounterMetricFamily("stet_documents_routed", "Routed documents by band", labels=["band"])
        for band, n_documents in figures.documents_by_band.items():
            documents.add_metric([band], n_documents)
        yield documents


def _gauge(name: str, description: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, description, value=value)
