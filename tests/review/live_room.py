"""A version made live for a document type, and what then is read of a document."""

from review.models import EngineVersion, ExtractionRun, FieldPrediction, Rollout
from tests.conftest import Cast
from tests.review.conftest import picture
from tests.review.queueing import work_off
from tests.review.reading_through import send


def live(cast: Cast, version: EngineVersion) -> EngineVersion:
    Rollout.objects.update_or_create(
        document_type=cast.document_type, stage="live", defaults={"engine_version": version, "salt": "s"}
    )
    return version


def read(cast: Cast, text: str = "9.00") -> ExtractionRun:
    document = send(cast, picture(text))
    work_off()
    return ExtractionRun.objects.select_related("engine_version").get(document=document, is_current=True)


def total(run: ExtractionRun) -> FieldPrediction:
    return FieldPrediction.objects.get(run=run, field_path="/total")
