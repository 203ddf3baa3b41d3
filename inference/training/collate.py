"""A batch as the model learns from it: the loss is on the answer alone, and nothing is cut off unseen.

Importing this module imports torch and trl (the extra `train`).
"""

from dataclasses import dataclass
from typing import Any

from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

from inference.training.errors import TrainingError

NO_LOSS = -100


@dataclass
class AnswerOnlyCollator(DataCollatorForVisionLanguageModeling):
    """TRL's collator for prompts and completions, which masks the prompt; with a bound that refuses instead of cutting.

    An answer that is cut short teaches to stop anywhere, so a page that is longer than `longest` tokens, picture and
    answer included, ends the training.
    """

    completion_only_loss: bool = True
    longest: int = 0

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        """Return `input_ids`, `attention_mask`, `labels` (-100 on all but answers) and what the processor adds."""
        batch: dict[str, Any] = super().torch_call(examples)
        n_tokens = int(batch["attention_mask"].sum(dim=1).max())
        if n_tokens > self.longest:
            raise TrainingError(
                "training_data_unusable",
                f"a page with its answer has {n_tokens} tokens, the server takes {self.longest}: lower "
                "imaging/max_pixels or raise max-model-len, and declare that as an engine version first",
            )
        if bool((batch["labels"] == NO_LOSS).all(dim=1).any()):
            raise TrainingError("training_data_unusable", "a page has no token of an answer to learn from")
        return batch
