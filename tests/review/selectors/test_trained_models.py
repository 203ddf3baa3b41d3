"""A trained model comes with its bytes."""

import pytest

from review.models import TrainedModel
from review.selectors.trained_models import trained_model
from tests.conftest import Cast
from tests.review.trained import make_locator


@pytest.mark.django_db
def test_a_model_is_found_with_its_bytes(cast: Cast) -> None:
    made = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    assert bytes(trained_model(made.pk).payload) == made.payload
    with pytest.raises(TrainedModel.DoesNotExist):
        trained_model(made.pk + 1)
