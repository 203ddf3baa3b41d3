from hypothesis import given
from hypothesis import strategies as st

from inference.answers.logprobs import token_evidence
from inference.serving.partial_tokens import with_shared_bytes
from inference.types import Token
from tests.replay.exchanges import recorded

ALTERNATIVES = ((b"", -0.5), (b"", -1.0))


def test_each_token_of_a_character_has_a_byte_of_it() -> None:
    tokens = [Token(b"", -0.5), Token(b"", -0.1), Token("合".encode(), 0.0), Token(b"!", -1.0)]
    assert [token.data for token in with_shared_bytes(tokens)] == [b"\xe5", b"\x90", b"\x88", b"!"]


def test_token_with_the_rest_of_one_character_and_more_keeps_both() -> None:
    tokens = with_shared_bytes([Token(b"", -0.5), Token("计算".encode(), 0.0)])
    assert [token.data for token in tokens] == ["计".encode()[:1], "计".encode()[1:] + "算".encode()]


def test_token_is_told_from_others_that_began_another_character() -> None:
    first, _ = with_shared_bytes([Token(b"", -0.5, ALTERNATIVES), Token("é".encode(), 0.0)])
    assert first.alternatives == ((b"\xc3", -0.5), (b"", -1.0))


def test_token_of_no_text_before_a_plain_letter_began_nothing() -> None:
    tokens = [Token(b"", -0.5), Token(b"a", -1.0)]
    assert with_shared_bytes(tokens) == tuple(tokens)


def test_character_that_is_never_completed_has_no_bytes() -> None:
    assert with_shared_bytes([Token(b"a", -1.0), Token(b"", -0.5)])[-1].data == b""


@given(st.lists(st.sampled_from([b"", b"a", "é".encode(), "合计".encode(), "🧾".encode(), b"</s>"]), max_size=12))
def test_all_bytes_stay_and_stay_in_order(pieces: list[bytes]) -> None:
    tokens = with_shared_bytes([Token(data, -1.0) for data in pieces])
    assert b"".join(token.data for token in tokens) == b"".join(pieces)
    assert len(tokens) == len(pieces)


def test_doubt_about_the_first_character_of_a_value_is_evidence() -> None:
    doubtful = [
        Token(b'{"a":"', 0.0),
        Token(b"", -2.0),
        Token(b"", -0.1),
        Token("合".encode(), -0.1),
        Token(b'"}', 0.0),
    ]
    lost = token_evidence('{"a":"合"}', doubtful, {"a": "合"})
    found = token_evidence('{"a":"合"}', with_shared_bytes(doubtful), {"a": "合"})
    assert found["/a"]["token_min"] < 0.14 < lost["/a"]["token_min"]


def test_real_server_tells_tokens_so() -> None:
    """Chinese keys in a constrained answer: most of their tokens come as nothing."""
    [exchange] = recorded("chinese")
    entries = exchange.response["choices"][0]["logprobs"]["content"]
    assert sum(entry["bytes"] == [] for entry in entries) >= 4
    tokens = with_shared_bytes([Token(bytes(entry["bytes"]), entry["logprob"]) for entry in entries])
    assert all(token.data for token in tokens)
