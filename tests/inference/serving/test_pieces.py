from hypothesis import given
from hypothesis import strategies as st

from inference.serving.pieces import Pieces


class ByteTokenizer:
    """Every byte is a token, as in the worst case of a byte-level tokenizer."""

    def decode(self, ids: list[int], **_: bool) -> str:
        return bytes(ids).decode("utf-8", "replace")


def pieces_of(data: bytes) -> list[str]:
    pieces = Pieces(ByteTokenizer())
    return [pieces.push(one) for one in data]


@given(st.text(st.characters(exclude_characters="\ufffd", exclude_categories=["Cs"]), max_size=30))
def test_pieces_together_are_the_text(text: str) -> None:
    assert "".join(pieces_of(text.encode())) == text


def test_character_comes_with_the_token_that_completes_it() -> None:
    assert pieces_of("a合!".encode()) == ["a", "", "", "合", "!"]


@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_do_not_hold_up_what_follows(noise: bytes) -> None:
    assert "".join(pieces_of(noise + b"     end")).endswith("end")
