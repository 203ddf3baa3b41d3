"""What is kept of a merged training: the weights in one precision, and the rest of the folder as it was."""

from pathlib import Path

from tests.vllm.trainers_python import ran


def test_weights_of_two_precisions_become_those_of_the_largest_and_the_rest_is_taken_over(
    vllm_venv: Path, tmp_path: Path
) -> None:
    kept = ran(vllm_venv, tmp_path, "kept_weights", tmp_path, Path("0.5"))
    assert kept == {
        "refused": "",
        "linear": 1.5,
        "dtypes": ["torch.bfloat16"],
        "files": ["adapters/adapter_model.safetensors", "code/model.py", "config.json", "model.safetensors"],
        "config": "of the model",
    }


def test_rounding_alone_is_no_learning(vllm_venv: Path, tmp_path: Path) -> None:
    """A thousandth is lost beside 1 in bfloat16; a norm that was more precise before does not count either."""
    assert "train longer" in ran(vllm_venv, tmp_path, "kept_weights", tmp_path, Path("0.001"))["refused"]
