"""The OpenAPI document, made once a process: making it takes a second, and anybody may ask for it."""

import functools
import hashlib

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import condition, require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer2

JSON, YAML = "application/json", "application/yaml"
_RENDERERS = {JSON: OpenApiJsonRenderer2, YAML: OpenApiYamlRenderer2}


@functools.cache
def document(media_type: str) -> bytes:
    """Return the document in English, whatever the language of whoever asks first."""
    with translation.override("en"):
        schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
        rendered = _RENDERERS[media_type]().render(schema, renderer_context={})
    return rendered.encode() if isinstance(rendered, str) else rendered


def wanted_type(request: HttpRequest) -> str:
    """Return YAML where it is asked for by `?format=yaml` or the Accept header, JSON otherwise."""
    if wish := request.GET.get("format"):
        return YAML if wish == "yaml" else JSON
    return YAML if "yaml" in request.headers.get("Accept", "") else JSON


def _etag(request: HttpRequest) -> str:
    return f'"{hashlib.sha256(document(wanted_type(request))).hexdigest()}"'


@require_safe
@condition(etag_func=_etag)
def schema(request: HttpRequest) -> HttpResponse:
    """Return the document; nothing in it is secret."""
    media_type = wanted_type(request)
    return HttpResponse(document(media_type), content_type=media_type, headers={"Vary": "Accept"})
