"""Lets Django find this package's commands; there are no models here."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    """Holds commands only."""

    name = "inference"
