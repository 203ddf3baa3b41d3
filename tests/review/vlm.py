"""A language model for tests: its specification, its version, and a project that reads with it."""

from inference.types import VlmSpec
from review.actions.engines import declare_engine_version
from review.models import EngineVersion, Project
from review.selectors.access import SYSTEM

SPEC = VlmSpec(
    kind="vllm_server",
    served_model_name="tiny",
    weights_folder="/models/tiny",
    weights_sha256={"model.safetensors": "a" * 64},
    prompt_version="v1",
    chat_template_sha256="b" * 64,
    vllm_version="0.32.0",
    words_by="scripted",
)
"""Its words are read by the scripted engine; so is its answer where a test puts that engine in its place."""


def read_with_vlm(project: Project, spec: VlmSpec = SPEC) -> EngineVersion:
    """Declare the specification and have the project read with it."""
    project.engine_version = declare_engine_version(actor=SYSTEM, spec=spec)
    project.save()
    return project.engine_version
