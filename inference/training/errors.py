"""What can go wrong while a model is fine-tuned."""

from inference.errors import InferenceError


class TrainingError(InferenceError):
    """Nothing was trained, and nothing of it is kept. `code` says why: one of `REASONS`."""

    REASONS = (
        "training_extra_missing",
        "training_plan_invalid",
        "training_data_unusable",
        "training_out_of_memory",
        "training_cancelled",
        "training_failed",
    )

    def __init__(self, code: str, message: str) -> None:
        if code not in self.REASONS:
            raise ValueError(f"unknown reason {code!r}")
        super().__init__(message)
        self.code = code
