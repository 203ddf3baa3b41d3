"""Socket routes."""

from django.urls import URLPattern, path

from review.live.consumers import ProjectEventsConsumer

urlpatterns: list[URLPattern] = [
    path("ws/projects/<slug:slug>/events/", ProjectEventsConsumer.as_asgi()),
]
