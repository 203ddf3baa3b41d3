"""Reviewers: how often they err, how often they agree, and how often somebody looks again."""

from rest_framework import serializers

from review.api.fields import ReadSerializer, WriteSerializer
from review.api.serializers.accuracy import EstimateSerializer


class CheckedEstimateSerializer(EstimateSerializer):
    """A share with its interval and how many fields it comes from."""

    n = serializers.IntegerField()


class ReviewerSerializer(ReadSerializer):
    """One reviewer."""

    username = serializers.CharField()
    error = CheckedEstimateSerializer(help_text="How often the reviewer errs, by settled second reviews.")
    seeded_error = CheckedEstimateSerializer(help_text="How often the reviewer errs on documents with known values.")
    agreement = CheckedEstimateSerializer(help_text="How often the reviewer and another one gave the same answer.")


class ReviewersSerializer(ReadSerializer):
    """All who may review, or did; figures are of the last `n_days` days."""

    second_review_share = serializers.FloatField()
    seeded_share = serializers.FloatField()
    n_days = serializers.IntegerField(source="page.n_days")
    n_second_reviews = serializers.IntegerField(source="page.n_second_reviews", help_text="That wait.")
    n_adjudications = serializers.IntegerField(source="page.n_adjudications", help_text="That wait.")
    n_known_documents = serializers.IntegerField(
        source="page.n_known_documents", help_text="Documents with agreed values, which seeded tasks are made from."
    )
    reviewers = ReviewerSerializer(source="page.reviewers", many=True)


class SecondLookSharesSerializer(WriteSerializer):
    """How often somebody looks again; what is left out stays."""

    second_review_share = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Share of submitted reviews that get a second, blind one."
    )
    seeded_share = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Share of tasks before which one with known values comes."
    )
