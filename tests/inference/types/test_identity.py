import datetime

from inference.types.identity import as_stored, engine_digest


def test_the_order_of_keys_changes_nothing_and_every_value_does() -> None:
    one = engine_digest("rapidocr", {"a": 1, "b": {"c": [1, 2], "d": 2}})
    assert engine_digest("rapidocr", {"b": {"d": 2, "c": [1, 2]}, "a": 1}) == one
    assert len(one) == 64
    others = {
        engine_digest("other", {"a": 1, "b": {"c": [1, 2], "d": 2}}),
        engine_digest("rapidocr", {"a": 1, "b": {"c": [2, 1], "d": 2}}),
        engine_digest("rapidocr", {"a": "1", "b": {"c": [1, 2], "d": 2}}),
        engine_digest("rapidocr", {"a": 1, "b": {"c": [1, 2], "d": 2}, "e": None}),
    }
    assert len(others - {one}) == 4


def test_what_is_stored_is_plain_data_with_the_same_digest() -> None:
    version = {"made": datetime.date(2026, 11, 30), "sizes": (1, 2)}
    stored = as_stored(version)
    assert stored == {"made": "2026-11-30", "sizes": [1, 2]}
    assert engine_digest("x", stored) == engine_digest("x", version)
