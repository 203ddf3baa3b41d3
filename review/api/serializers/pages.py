"""What stands on a page, word by word."""

from rest_framework import serializers

from review.api.fields import BoxField, ReadSerializer
from review.selectors.page_words import PageWords


class WordSerializer(ReadSerializer):
    """A word and where it stands."""

    text = serializers.CharField()
    bbox = BoxField()
    score = serializers.FloatField(min_value=0, max_value=1, help_text="How clearly it was read.")


class PageWordsSerializer(ReadSerializer):
    """The words of one page; shows a `PageWords`."""

    page_number = serializers.IntegerField(source="page.page_number")
    width = serializers.IntegerField(source="page.width")
    height = serializers.IntegerField(source="page.height")
    is_read = serializers.SerializerMethodField(help_text="False while nothing has read the page, or when that failed.")
    words = WordSerializer(many=True)

    def get_is_read(self, page_words: PageWords) -> bool:
        """Return whether the page was read."""
        return page_words.reading_id is not None
