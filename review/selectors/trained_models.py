"""What was learned, as it is stored."""

from review.models import TrainedModel


def trained_model(model_id: int) -> TrainedModel:
    """Return a trained model with its bytes; raise TrainedModel.DoesNotExist."""
    return TrainedModel.objects.get(pk=model_id)
