"""The application."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from review.checks import register_checks


class ReviewConfig(AppConfig):
    """Stet's application; its checks are registered by `review.checks`."""

    name = "review"
    verbose_name = _("Review")

    def ready(self) -> None:
        """Register the checks of settings."""
        register_checks()
