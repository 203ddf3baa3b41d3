from inference.types import MAX_DISTANCE, hamming_distance


def test_a_distance_counts_bits() -> None:
    assert hamming_distance("0123456789abcdef", "0123456789abcdef") == 0
    assert hamming_distance("0" * 16, "f" * 16) == 64
    assert hamming_distance("0" * 16, "0" * 15 + "5") == 2


def test_what_looks_alike_differs_in_an_eighth_of_its_bits_at_most() -> None:
    assert MAX_DISTANCE * 8 <= 64
