import itertools

import pytest

from review.routing.bands import Band


def test_values_are_the_words_that_are_stored() -> None:
    assert [band.value for band in Band] == ["auto", "sampled", "review"]


def test_bands_compare_by_severity_and_not_by_letters() -> None:
    assert Band.AUTO < Band.SAMPLED < Band.REVIEW
    assert Band.REVIEW > Band.SAMPLED > Band.AUTO
    assert sorted([Band.REVIEW, Band.AUTO, Band.SAMPLED]) == [Band.AUTO, Band.SAMPLED, Band.REVIEW]
    assert "review" < "sampled", "the letters say the opposite, hence the test"


def test_a_band_is_at_least_and_at_most_itself() -> None:
    for band in Band:
        assert band <= band
        assert band >= band
        assert not band < band
        assert not band > band


@pytest.mark.parametrize(("mild", "severe"), [("auto", "sampled"), ("sampled", "review"), ("auto", "review")])
def test_plain_strings_compare_as_bands_on_either_side(mild: str, severe: str) -> None:
    assert Band(mild) < severe
    assert mild < Band(severe)
    assert severe >= Band(mild)
    assert not severe <= Band(mild)


def test_a_string_that_is_no_band_is_refused() -> None:
    with pytest.raises(ValueError, match="medium"):
        _ = Band.AUTO < "medium"


def test_severity_counts_from_mild_to_severe() -> None:
    assert [band.severity for band in Band] == [0, 1, 2]


@pytest.mark.parametrize("bands", list(itertools.permutations(Band)))
def test_worst_does_not_depend_on_the_order(bands: tuple[Band, ...]) -> None:
    assert Band.worst(bands) is Band.REVIEW
    assert Band.worst(bands[:1]) is bands[0]


def test_worst_of_nothing_is_review() -> None:
    assert Band.worst([]) is Band.REVIEW


def test_a_band_still_equals_its_stored_string() -> None:
    stored: dict[str, int] = {Band.AUTO: 1}
    assert stored["auto"] == 1
