"""The ASGI application: HTTP through Django, sockets through channels."""

import os
import warnings

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
# WhiteNoise's static files are small and read at once; our own files are sent piece by piece (`review.api.files`).
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
# Django must be set up before anything below imports a model.
django_application = get_asgi_application()

from review.live.urls import urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(urlpatterns))),
    }
)
