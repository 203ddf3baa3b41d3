"""What was learned, as it is stored."""

from review.models import DocumentType, ModelKind, TrainedModel


def trained_model(model_id: int) -> TrainedModel:
    """Return a trained model with its bytes; raise TrainedModel.DoesNotExist."""
    return TrainedModel.objects.get(pk=model_id)


def classifier_id(project_id: int) -> int | None:
    """Return the id of a project's newest document-type classifier, None where none was learned."""
    models = TrainedModel.objects.filter(project=project_id, kind=ModelKind.CLASSIFIER)
    return models.order_by("-pk").values_list("pk", flat=True).first()


def type_slug(project_id: int, document_type_id: int) -> str:
    """Return the slug of a project's document type, "" where it is no more or has no schema."""
    types = DocumentType.objects.filter(pk=document_type_id, project=project_id, active_version__isnull=False)
    return types.values_list("slug", flat=True).first() or ""
