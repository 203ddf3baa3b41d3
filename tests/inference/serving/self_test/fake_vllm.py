"""A server that behaves as vLLM 0.32 was seen to behave, with faults to choose from: each of them has happened."""

import base64
import hashlib
import io
import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from PIL import Image

from inference.serving.self_test.subject import SECRET
from inference.types import VlmSpec
from tests.inference.serving.specs import SMALL, SPEC

FORBIDDEN = -9999.0
PATCH_PIXELS = 28 * 28
N_TEXT_TOKENS = 12
WHITE_SPACE_TOKENS = {" ": 11, "\n": 12, "\t": 13}
END = "</s>"


@dataclass
class FakeVllm:
    """Answers requests. `fault` names what is wrong with it, "" for nothing; `spec` is what it was started for."""

    fault: str = ""
    spec: VlmSpec = SMALL
    version: str = SPEC.vllm_version
    is_away: bool = False
    max_model_len: int = 8192
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    _drift: "itertools.count[int]" = field(default_factory=itertools.count)
    _first_image: str = ""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("refused", request=request)
        match request.url.path:
            case "/health":
                return httpx.Response(200)
            case "/version":
                return httpx.Response(200, json={"version": self.version})
            case "/v1/models":
                data = [
                    {"id": name, "max_model_len": None if name == self._adapter else self.max_model_len}
                    for name in self.names
                ]
                return httpx.Response(200, json={"object": "list", "data": data})
            case "/tokenize":
                return self._tokenize(json.loads(request.content)["prompt"])
            case "/v1/chat/completions":
                return self._chat(json.loads(request.content))
            case "/v1/load_lora_adapter" if self.fault == "loads_at_run_time":
                return httpx.Response(404, json={"error": {"message": "no such path", "code": 404}})
            case _:
                return httpx.Response(404, json={"detail": "Not Found"})

    @property
    def names(self) -> tuple[str, str]:
        """What it serves, as the command line of its version says."""
        return self.spec.served_model_name, self.spec.tied_name

    @property
    def _adapter(self) -> str:
        return self.spec.tied_name if self.spec.adapter else ""

    def _tokenize(self, prompt: str) -> httpx.Response:
        if self.fault == "no_tokenize":
            return httpx.Response(404, json={"detail": "Not Found"})
        return httpx.Response(200, json={"tokens": [WHITE_SPACE_TOKENS.get(one, 20) for one in prompt]})

    def _chat(self, body: Mapping[str, Any]) -> httpx.Response:
        self.bodies.append(body)
        if body["model"] not in self.names:
            return httpx.Response(404, json={"error": {"message": "no such model", "param": "model", "code": 404}})
        parts = [part for message in body["messages"] for part in message["content"]]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        n_pixels = sum(map(pixels_of, urls))
        if (len(urls) > 1 and self.fault != "takes_more_images") or (
            self.fault == "small_encoder" and n_pixels > 240_000
        ):
            return httpx.Response(400, json={"error": {"message": "At most 1 image", "param": "image", "code": 400}})
        tokens = self._tokens(body, self._key(body, urls))
        limit = body["max_tokens"]
        finish_reason = "length" if len(tokens) > limit else "stop"
        if self.fault == "hides_length":
            finish_reason = "stop"
        n_prompt = N_TEXT_TOKENS + self._image_tokens(n_pixels)
        return httpx.Response(200, json=self._response(tokens[:limit], finish_reason, n_prompt, body))

    def _key(self, body: Mapping[str, Any], urls: list[str]) -> str:
        """What the answer depends on."""
        image = hashlib.sha256("".join(urls).encode()).hexdigest()
        self._first_image = self._first_image or image
        if self.fault == "mixes_images":
            image = self._first_image
        salt = str(next(self._drift)) if self.fault == "drifts" else ""
        is_adapted = body["model"] == self._adapter and self.fault != "ignores_adapter"
        return image + salt + ("adapted" if is_adapted else "")

    def _image_tokens(self, n_pixels: int) -> int:
        if self.fault == "fixed_tokens":
            return 256
        return min(n_pixels, 150_000 if self.fault == "scales_down" else n_pixels) // PATCH_PIXELS

    def _is_constrained(self, body: Mapping[str, Any]) -> bool:
        asked = "structured_outputs" in body or "response_format" in body
        return asked and self.fault != "ignores_schema"

    def _tokens(self, body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        if not self._is_constrained(body):
            pieces = ["tiny", " OCR", f" {next(self._drift)}" if self.fault == "writes_otherwise" else " 42", END]
            return [self._free(piece, f"{key}{n}") for n, piece in enumerate(pieces)]
        if body.get("logit_bias") and self.fault == "white_space":
            # What the request itself says about white space is not heeded.
            return [self._forced("{"), *[self._forced("\n")] * 500]
        digit = self._token("1", 0.7, {"1": 0.7, "2": 0.3, "x": 0.0})
        if self.fault == "sums_wrong":
            digit = self._token("1", 0.7, {"1": 0.7, "2": 0.1, "x": 0.0})
        return [self._forced(f'{{"code":"{SECRET}","digit":'), digit, self._forced("}"), self._forced(END)]

    def _forced(self, text: str) -> dict[str, Any]:
        return self._token(text, 1.0, {text: 1.0, "x": 0.0, "y": 0.0})

    def _free(self, text: str, key: str) -> dict[str, Any]:
        """A likely token whose probability hangs on the key."""
        share = 0.5 + int(hashlib.sha256(key.encode()).hexdigest()[:6], 16) / 2**24 / 4
        if self.fault == "not_likeliest":
            return self._token(text, 0.2, {"else": 0.7, text: 0.2})
        if self.fault == "above_one":
            return self._token(text, 0.9, {text: 0.9, "else": 0.4})
        return self._token(text, share, {text: share, "else": (1 - share) / 2})

    def _token(self, text: str, share: float, alternatives: Mapping[str, float]) -> dict[str, Any]:
        def entry(piece: str, probability: float) -> dict[str, Any]:
            logprob = math.log(probability) if probability else FORBIDDEN
            return {"token": piece, "logprob": logprob, "bytes": list(piece.encode())}

        spelt = "?" if self.fault == "unspelt" and text == " OCR" else text
        listed = [entry(piece, probability) for piece, probability in alternatives.items()]
        return entry(spelt, share) | {"top_logprobs": listed, "text": text}

    def _response(
        self, tokens: list[dict[str, Any]], finish_reason: str, n_prompt: int, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        text = "".join(token["text"] for token in tokens if token["text"] != END)
        has_logprobs = body.get("logprobs") and self.fault != "no_logprobs"
        return {
            "choices": [
                {
                    "message": {"role": "assistant", "content": text},
                    "logprobs": {"content": tokens} if has_logprobs else None,
                    "finish_reason": finish_reason,
                    "stop_reason": None,
                }
            ],
            "usage": {"prompt_tokens": n_prompt, "completion_tokens": len(tokens)},
        }


def pixels_of(url: str) -> int:
    """The number of pixels of an image in a data URL."""
    with Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))) as image:
        return image.width * image.height
