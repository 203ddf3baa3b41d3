"""What this process is told of model servers: its environment variables, read in one place.

`inference` knows no settings; `ocrsite.settings` checks the same variables at the start.
"""

import os
import re
from urllib.parse import urlsplit

from inference.errors import EngineUnavailableError

URL_VARIABLE, URLS_VARIABLE = "STET_VLLM_URL", "STET_VLLM_URLS"
KEY_VARIABLE, SECONDS_VARIABLE = "STET_VLLM_API_KEY", "STET_MODEL_SECONDS"
DEFAULT_SECONDS = 80.0
_PREFIX = re.compile(r"[0-9a-f]{8,64}")


def addresses(text: str) -> dict[str, str]:
    """Return the addresses of servers by the beginnings of the digests of the engine versions that they serve.

    Written "1f2e3d4c=http://gpu-1:8000,9a8b7c6d=http://gpu-2:8000"; raise ValueError that says what is wrong.
    """
    found: dict[str, str] = {}
    for part in (one.strip() for one in text.split(",")):
        if not part:
            continue
        prefix, is_given, url = (piece.strip() for piece in part.partition("="))
        prefix = prefix.lower()
        if not is_given or not _PREFIX.fullmatch(prefix):
            raise ValueError(f"{part!r} does not begin with 8 letters or more of a digest and =")
        if not _is_address(url):
            raise ValueError(f"{url!r} does not look like http://host:8000")
        if any(prefix.startswith(other) or other.startswith(prefix) for other in found):
            raise ValueError(f"{prefix!r} and another one may begin the same digest")
        found[prefix] = url
    return found


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Asked for its value, a port that is none raises.
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def address_of(digest: str, *, urls: str, url: str) -> str:
    """Return where the engine version of this digest is served: the address of its own in `urls`, else `url`.

    Raise ValueError where `urls` cannot be understood.
    """
    own = (found for prefix, found in addresses(urls).items() if digest.startswith(prefix))
    return next(own, url.strip())


def server_url(digest: str) -> str:
    """Return where the engine version of this digest is served; raise EngineUnavailableError where nothing says so."""
    try:
        url = address_of(digest, urls=os.environ.get(URLS_VARIABLE, ""), url=os.environ.get(URL_VARIABLE, ""))
    except ValueError as wrong:
        raise EngineUnavailableError(f"{URLS_VARIABLE} cannot be understood: {wrong}") from None
    if not url:
        raise EngineUnavailableError(f"{URL_VARIABLE} names no server, and {URLS_VARIABLE} none for {digest[:8]}")
    return url


def server_key() -> str:
    """Return what proves to a server that we may ask it, "" for nothing."""
    return os.environ.get(KEY_VARIABLE, "")


def page_seconds() -> float:
    """Return how long a language model may take for one page, all its questions together."""
    return float(os.environ.get(SECONDS_VARIABLE, "") or DEFAULT_SECONDS)
