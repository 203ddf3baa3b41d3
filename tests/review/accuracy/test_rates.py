import pytest

from review.accuracy.rates import automation_rate, pages_per_hour, straight_through_rate


@pytest.mark.parametrize(
    ("bands", "rate"),
    [((90, 2, 8), 0.92), ((0, 0, 5), 0.0), ((1, 0, 0), 1.0), ((0, 1, 0), 1.0), ((0, 0, 0), None)],
)
def test_automation_counts_what_does_not_wait_for_a_person(bands: tuple[int, int, int], rate: float | None) -> None:
    auto, sampled, review = bands
    assert automation_rate(n_auto=auto, n_sampled=sampled, n_review=review) == rate


@pytest.mark.parametrize(("n", "selected", "rate"), [(100, 10, 0.9), (100, 0, 1.0), (4, 4, 0.0), (0, 0, None)])
def test_straight_through_counts_what_nobody_looks_at(n: int, selected: int, rate: float | None) -> None:
    assert straight_through_rate(n_documents=n, n_selected=selected) == rate


def test_straight_through_is_never_above_automation() -> None:
    # 10 of 90 automatic and sampled documents are audited; the 10 in review always are.
    automation = automation_rate(n_auto=70, n_sampled=20, n_review=10)
    through = straight_through_rate(n_documents=100, n_selected=20)
    assert automation is not None
    assert through is not None
    assert through < automation


@pytest.mark.parametrize(("n", "selected"), [(1, 2), (-1, -1), (5, -1)])
def test_more_parts_than_the_whole_are_refused(n: int, selected: int) -> None:
    with pytest.raises(ValueError, match="whole"):
        straight_through_rate(n_documents=n, n_selected=selected)


def test_negative_bands_are_refused() -> None:
    with pytest.raises(ValueError, match="whole"):
        automation_rate(n_auto=1, n_sampled=0, n_review=-1)


@pytest.mark.parametrize(("pages", "seconds", "rate"), [(10, 3600, 10), (1, 0.5, 7200), (0, 60, 0), (5, 0, None)])
def test_pages_per_hour(pages: int, seconds: float, rate: float | None) -> None:
    assert pages_per_hour(n_pages=pages, seconds=seconds) == rate


@pytest.mark.parametrize(("pages", "seconds"), [(-1, 1), (1, -1)])
def test_negative_work_or_time_is_refused(pages: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="negative"):
        pages_per_hour(n_pages=pages, seconds=seconds)
