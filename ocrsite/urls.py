"""Where everything is."""

from django.contrib import admin
from django.urls import include, path

from review.api.urls import root_urlpatterns

handler400 = "review.api.views.unknown.bad_request"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("review.api.urls")),
    *root_urlpatterns,
    path("", include("review.web.urls")),
]
