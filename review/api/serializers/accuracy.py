"""Accuracy and rates."""

from rest_framework import serializers

from review.api.fields import ReadSerializer
from review.api.serializers.review_tasks import QueueSerializer
from review.models import Population


class EstimateSerializer(ReadSerializer):
    """A share with its interval; `point` null where nothing was examined."""

    point = serializers.FloatField(allow_null=True)
    lower = serializers.FloatField()
    upper = serializers.FloatField()
    level = serializers.FloatField()
    estimator = serializers.CharField()


class AccuracyRowSerializer(ReadSerializer):
    """Accuracy of one field of one type; `bucket` null is all confidences together."""

    document_type = serializers.SlugField(source="document_type.slug")
    field_path = serializers.CharField(help_text="In a table's column the row is `*`.")
    population = serializers.ChoiceField(choices=Population.choices)
    bucket = serializers.CharField(allow_null=True)
    n = serializers.IntegerField(help_text="How many fields were examined.")
    estimate = EstimateSerializer()


class RatesSerializer(ReadSerializer):
    """What the machine does alone and how fast; a rate of nothing is null."""

    n_days = serializers.IntegerField()
    n_documents = serializers.IntegerField()
    n_pages = serializers.IntegerField()
    n_auto = serializers.IntegerField()
    n_sampled = serializers.IntegerField()
    n_review = serializers.IntegerField()
    n_selected = serializers.IntegerField(help_text="Documents that a person was asked to look at.")
    automation_rate = serializers.FloatField(allow_null=True)
    straight_through_rate = serializers.FloatField(allow_null=True)
    pages_per_hour = serializers.FloatField(allow_null=True)
    cpu_seconds_per_page = serializers.FloatField(allow_null=True)
    queue = QueueSerializer()


class AccuracySerializer(ReadSerializer):
    """The table of accuracies and the rates."""

    population = serializers.ChoiceField(choices=Population.choices)
    rows = AccuracyRowSerializer(many=True)
    rates = RatesSerializer()


class AccuracyQuerySerializer(serializers.Serializer[object]):
    """What to look at."""

    document_type = serializers.SlugField(max_length=50, required=False, help_text="The slug of a document type.")
    population = serializers.ChoiceField(
        choices=Population.choices,
        required=False,
        default=Population.READER,
        help_text="“reader”: how often the reader is right. “unseen”: how often a value stored without a look is.",
    )
