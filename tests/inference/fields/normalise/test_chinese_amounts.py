from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise.amounts import normalise_amount
from inference.fields.normalise.chinese_amounts import find_chinese_amounts
from inference.fields.normalise.outcome import Normalised
from tests.inference.fields.normalise.capitals import CAPITAL, written

AMOUNTS = st.decimals(min_value=Decimal("0.01"), max_value=Decimal("9999999999.99"), places=2)


def cheque(amount: Decimal) -> str:
    """As it stands on a cheque: 壹万元整, 叁拾元零伍分, 伍角."""
    yuan, cents = divmod(int(amount * 100), 100)
    jiao, fen = divmod(cents, 10)
    text = written(yuan) + "元" if yuan else ""
    if jiao:
        text += CAPITAL[jiao] + "角"
    elif fen and yuan:
        text += "零"
    return text + (CAPITAL[fen] + "分" if fen else "整")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("壹万贰仟叁佰元整", "12300.00"),
        ("壹万贰仟叁佰圆整", "12300.00"),
        ("壹萬貳仟參佰圓正", "12300.00"),
        ("壹万贰仟叁佰", "12300.00"),
        ("壹万贰仟", "12000.00"),
        ("人民币（大写）：壹万贰仟叁佰元整", "12300.00"),
        ("一万二千三百元", "12300.00"),
        ("叁拾元伍角贰分", "30.52"),
        ("叁拾元零贰分", "30.02"),
        ("伍角整", "0.50"),
        ("伍角贰分", "0.52"),
        ("零元", "0.00"),
        ("负壹佰元", "-100.00"),
        ("壹 万 贰 仟 叁 佰 元 整", "12300.00"),
        ("零拾零万伍仟零佰零拾零元零角零分", "5000.00"),
        ("¥12,300.00 壹万贰仟叁佰元整", "12300.00"),
    ],
)
def test_amounts_in_numerals_are_read(text: str, value: str) -> None:
    assert normalise_amount(text, "zh-CN") == Normalised(value)


@pytest.mark.parametrize(
    "text", ["陆先生", "三十里铺", "百度", "一万二元", "二百五元", "三千四万元", "伍拾角", "十分", "万元"]
)
def test_names_and_speech_are_no_amounts(text: str) -> None:
    assert normalise_amount(text, "zh-CN").value is None


def test_figures_and_words_that_differ_are_two_amounts() -> None:
    assert normalise_amount("¥12,300.00（壹万贰仟元整）", "zh-CN") == Normalised(None, ("number_several",))


def test_found_amounts_keep_their_place() -> None:
    text = "合计(大写)叁拾元伍角 (小写)30.50"
    (found,) = find_chinese_amounts(text)
    assert text[found.start : found.end] == "叁拾元伍角"
    assert found.number == Decimal("30.5")


@given(AMOUNTS)
def test_every_amount_is_read_back_from_a_cheque(amount: Decimal) -> None:
    text = cheque(amount)
    if amount < Decimal("0.1"):
        # Some fen alone are too little to tell from other uses of 分.
        return
    assert normalise_amount(text, "zh-CN").value == f"{amount:.2f}"


@given(st.text(alphabet="零壹贰叁拾佰仟万元角分整 一二百，。12", max_size=20))
def test_found_spans_lie_in_the_text_and_never_overlap(text: str) -> None:
    end = 0
    for found in sorted(find_chinese_amounts(text)):
        assert end <= found.start < found.end <= len(text)
        end = found.end
