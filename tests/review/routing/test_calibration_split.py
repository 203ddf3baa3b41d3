"""Documents are divided once and for all, about three in ten to learn from, each type in its own way."""

from scipy import stats

from review.routing.calibration_split import CALIBRATION_SHARE, is_for_calibration

KEYS = [f"document {number}" for number in range(4_000)]


def test_the_share_is_the_stated_one_and_the_same_each_time() -> None:
    drawn = [is_for_calibration(key, "type 1") for key in KEYS]
    assert stats.binomtest(sum(drawn), len(KEYS), CALIBRATION_SHARE).pvalue > 0.001
    assert drawn == [is_for_calibration(key, "type 1") for key in KEYS]


def test_another_type_divides_its_documents_otherwise() -> None:
    both = [(is_for_calibration(key, "type 1"), is_for_calibration(key, "type 2")) for key in KEYS]
    n_both = sum(one and other for one, other in both)
    assert stats.binomtest(n_both, len(KEYS), CALIBRATION_SHARE**2).pvalue > 0.001
