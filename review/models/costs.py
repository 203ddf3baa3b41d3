"""What things cost in a project, for the cost page."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.tenancy import Project


class CostModel(models.Model):
    """A project's prices; see `review.accuracy.costs.Prices` for their units. A project without one has defaults."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="cost_model")
    currency = models.CharField(_("currency"), max_length=3)
    cpu_hour = models.FloatField(_("CPU core hour"))
    gpu_hour = models.FloatField(_("GPU hour"))
    storage_gb_month = models.FloatField(_("GB of storage for a month"))
    storage_months = models.FloatField(_("months for which files are kept"))
    person_hour = models.FloatField(_("hour of a reviewer"))
    operations_month = models.FloatField(_("operations for a month"))
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)

    class Meta:
        verbose_name = _("cost model")
        verbose_name_plural = _("cost models")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(
                    cpu_hour__gte=0,
                    gpu_hour__gte=0,
                    storage_gb_month__gte=0,
                    storage_months__gte=0,
                    person_hour__gte=0,
                    operations_month__gte=0,
                ),
                name="no_price_is_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"cost model of {self.project_id}"
