import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise.dates import find_dates, normalise_date
from inference.fields.normalise.outcome import Normalised
from tests.inference.fields.normalise.capitals import section_written

DATES = st.dates(datetime.date(1970, 1, 1), datetime.date(2069, 12, 31))
MAY = "MAY"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("19/10/2018", "2018-10-19"),
        ("19-10-2018", "2018-10-19"),
        ("19.10.2018", "2018-10-19"),
        ("9/3/2018", "2018-03-09"),
        ("12-01-19", "2019-01-12"),
        ("05/02/18", "2018-02-05"),
        ("01/06/99", "1999-06-01"),
        ("2018-03-04", "2018-03-04"),
        ("2018/3/4", "2018-03-04"),
        ("2018.03.04", "2018-03-04"),
        ("20180304", "2018-03-04"),
        ("2018年3月4日", "2018-03-04"),
        ("2018 年 03 月 04 日", "2018-03-04"),
        ("18年3月4日", "2018-03-04"),
        ("２０１８年３月４日", "2018-03-04"),
        ("19 MAR 2018", "2018-03-19"),
        ("19MAR2018", "2018-03-19"),
        ("14/MAY/2017", "2017-05-14"),
        ("14-May-17", "2017-05-14"),
        ("28 MAR 18", "2018-03-28"),
        ("1st September 2020", "2020-09-01"),
        ("22nd Sept, 2020", "2020-09-22"),
        ("March 5, 2018", "2018-03-05"),
        ("Mar 5 '18", "2018-03-05"),
        ("31 Ogos 2019", "2019-08-31"),
        ("16 Mac 2018", "2018-03-16"),
        ("25 Disember 2017", "2017-12-25"),
        ("29/02/2020", "2020-02-29"),
    ],
)
def test_dates_as_printed_become_iso(text: str, value: str) -> None:
    assert normalise_date(text, "en-MY") == Normalised(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Date: 09/01/2019 8:01:11 PM", "2019-01-09"),
        ("18-01-201810:27", "2018-01-18"),
        ("05/02/1810:27", "2018-02-05"),
        ("ORD #50 -REG #19- 18/01/2018 10:27:03", "2018-01-18"),
        ("开票日期：2024年03月05日", "2024-03-05"),
        ("12-01-19 21:13 SH01 ZK09", "2019-01-12"),
    ],
)
def test_a_date_is_found_among_other_text(text: str, value: str) -> None:
    assert normalise_date(text, "en-MY").value == value


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ("en-MY", Normalised("2018-04-03")),
        ("en-GB", Normalised("2018-04-03")),
        ("de-DE", Normalised("2018-04-03")),
        ("en-US", Normalised("2018-03-04")),
        ("en", Normalised(None, ("date_ambiguous",), ("2018-04-03", "2018-03-04"))),
        ("zh-CN", Normalised(None, ("date_ambiguous",), ("2018-04-03", "2018-03-04"))),
    ],
)
def test_the_locale_orders_day_and_month_and_without_it_the_date_is_ambiguous(
    locale: str, expected: Normalised
) -> None:
    assert normalise_date("03/04/2018", locale) == expected


@pytest.mark.parametrize(
    ("locale", "value"), [("en-MY", "2004-03-18"), ("zh-CN", "2018-03-04"), ("ja-JP", "2018-03-04")]
)
def test_short_dates_start_with_the_year_only_where_people_write_them_so(locale: str, value: str) -> None:
    assert normalise_date("18/03/04", locale).value == value


def test_a_date_that_fits_only_the_other_order_is_read_and_reported() -> None:
    assert normalise_date("12/28/2017", "en-MY") == Normalised("2017-12-28", ("date_order_unusual",))
    assert normalise_date("28/12/2017", "en-US") == Normalised("2017-12-28", ("date_order_unusual",))


def test_a_date_that_fits_one_order_only_is_not_ambiguous() -> None:
    assert normalise_date("28/12/2017", "en") == Normalised("2017-12-28")
    assert normalise_date("05/05/2017", "en") == Normalised("2017-05-05")


@pytest.mark.parametrize(
    "text", ["31/02/2018", "99/99/2018", "30 FEB 2018", "2018-13-01", "2018年2月30日", "00/01/2018", "29/02/2019"]
)
def test_impossible_dates_have_no_value(text: str) -> None:
    assert normalise_date(text, "en-MY") == Normalised(None, ("date_impossible",))


@pytest.mark.parametrize("text", ["01/03/1800", "1/1/2999"])
def test_implausible_years_have_no_value(text: str) -> None:
    assert normalise_date(text, "en-MY") == Normalised(None, ("date_implausible",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "TOTAL",
        "07-3507405",
        "1.2.3.4",
        "12:30:45",
        "60.30",
        "GST ID 000849813504",
        "81100",
        "123/45/67890",
        "INV20180304X",
    ],
)
def test_what_is_no_date_has_neither_value_nor_finding(text: str) -> None:
    assert normalise_date(text, "en-MY") == Normalised(None)


def test_several_dates_are_none_and_say_so() -> None:
    assert normalise_date("20/12/2017 - 21/12/2017", "en-MY") == Normalised(None, ("date_several",))


def test_the_same_date_twice_is_one() -> None:
    assert normalise_date("20/12/2017 (20 DEC 2017)", "en-MY").value == "2017-12-20"


def test_a_possible_date_beside_an_impossible_one_wins() -> None:
    assert normalise_date("31/02/2018 or 01/03/2018", "en-MY").value == "2018-03-01"


def test_found_dates_keep_their_place_and_order() -> None:
    text = "From 01/02/2018 to 3 MAR 2018."
    found = find_dates(text, "en-MY")
    assert [text[item.start : item.end] for item in found] == ["01/02/2018", "3 MAR 2018"]
    assert [item.normalised.value for item in found] == ["2018-02-01", "2018-03-03"]


FORMATS = [
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%d/%m/%y",
    "%d %b %Y",
    "%d-%b-%y",
    "%B %d, %Y",
    "%Y-%m-%d",
    "%Y%m%d",
    "%Y年%m月%d日",
]


@given(DATES, st.sampled_from(FORMATS))
def test_every_format_round_trips_day_first(date: datetime.date, form: str) -> None:
    assert normalise_date(date.strftime(form), "en-MY") == Normalised(date.isoformat())


@given(DATES, st.sampled_from(["%m/%d/%Y", "%m-%d-%y", "%b %d, %Y"]))
def test_every_format_round_trips_month_first(date: datetime.date, form: str) -> None:
    assert normalise_date(date.strftime(form), "en-US") == Normalised(date.isoformat())


@given(DATES, st.sampled_from(["en", "en-US", "en-MY", "zh-CN", "de-DE"]))
def test_iso_dates_mean_the_same_everywhere(date: datetime.date, locale: str) -> None:
    assert normalise_date(date.isoformat(), locale) == Normalised(date.isoformat())


@given(DATES)
def test_without_a_locale_the_right_date_is_given_or_the_doubt_reported(date: datetime.date) -> None:
    outcome = normalise_date(date.strftime("%m/%d/%Y"), "en")
    assert outcome.value == date.isoformat() or (
        outcome.findings == ("date_ambiguous",) and date.isoformat() in outcome.alternatives
    )


def test_a_clear_date_beside_a_doubtful_one_settles_it_or_contradicts_it() -> None:
    assert normalise_date("03/04/2018 (3 April 2018)", "en") == Normalised("2018-04-03")
    assert normalise_date("03/04/2018, 4 May 2018", "en") == Normalised(None, ("date_several",))
    assert normalise_date("03/04/2018 03/04/2018", "en").findings == ("date_ambiguous",)
    assert normalise_date("03/04/2018 05/04/2018", "en") == Normalised(None, ("date_several",))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("二〇二六年十一月二十九日", "2026-11-29"),
        ("二零二六年十一月廿九日", "2026-11-29"),
        ("二○二六年一月三号", "2026-01-03"),
        ("贰零贰陆年零壹拾壹月贰拾玖日", "2026-11-29"),
        ("貳零貳陸年壹拾月零叁日", "2026-10-03"),
        ("日期：二〇二六年十一月二十九日止", "2026-11-29"),
        ("民國一一五年十一月二十九日", "2026-11-29"),
    ],
)
def test_dates_in_chinese_numerals_are_read(text: str, value: str) -> None:
    assert normalise_date(text, "zh-CN") == Normalised(value)


@pytest.mark.parametrize(
    "text", ["二〇二六年十三月一日", "二〇二六年二月三十日", "二十六年十一月一日", "二〇二六年十月一百日"]
)
def test_numerals_that_make_no_date_are_impossible(text: str) -> None:
    assert normalise_date(text, "zh-CN") == Normalised(None, ("date_impossible",))


@pytest.mark.parametrize("text", ["二〇二六年十一月", "2026年11月", "2026 年 11 月", "民國115年11月", "2026-11"])
def test_a_month_without_a_day_is_kept_as_a_month_and_reported(text: str) -> None:
    assert normalise_date(text, "zh-TW") == Normalised("2026-11", ("date_without_day",))


@pytest.mark.parametrize("text", ["租期10年6月", "3年6月", "十年六月", "一五年六月"])
def test_a_length_of_time_is_no_month(text: str) -> None:
    assert normalise_date(text, "zh-CN").value is None


def test_a_month_beside_a_date_in_full_is_left_aside() -> None:
    assert normalise_date("2026年11月 2026年11月29日", "zh-CN") == Normalised("2026-11-29")
    assert normalise_date("2026年13月", "zh-CN") == Normalised(None, ("date_impossible",))


@pytest.mark.parametrize("text", ["2026-13", "2026-00", "2026-1", "26-11"])
def test_other_pairs_of_numbers_are_no_month(text: str) -> None:
    assert normalise_date(text, "en-MY").value is None


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("29/11/2569", "th-TH", "2026-11-29"),
        ("29 พฤศจิกายน 2569", "th-TH", "2026-11-29"),
        ("๒๙ พฤศจิกายน พ.ศ. ๒๕๖๙", "th", "2026-11-29"),
        ("29 พ.ย. 2569", "th-TH", "2026-11-29"),
        ("2569-11-29", "th-TH", "2026-11-29"),
        ("29 พ.ย. พ.ศ. 69", "th-TH", "2026-11-29"),
        ("29/11/2026", "th-TH", "2026-11-29"),
        ("29 November 2569", "en-TH", "2026-11-29"),
        ("115年11月29日", "zh-TW", "2026-11-29"),
        ("民國115年11月29日", "zh-TW", "2026-11-29"),
        ("中華民國 115 年 11 月 29 日", "zh-Hant-TW", "2026-11-29"),
        ("115/11/29", "zh-TW", "2026-11-29"),
        ("115.11.29", "zh-TW", "2026-11-29"),
        ("民國99年5月3日", "zh-TW", "2010-05-03"),
        ("民國元年1月1日", "zh-TW", "1912-01-01"),
        ("民国115年11月29日", "zh-CN", "2026-11-29"),
        ("2026年11月29日", "zh-TW", "2026-11-29"),
        ("令和8年11月29日", "ja-JP", "2026-11-29"),
        ("令和元年5月1日", "ja-JP", "2019-05-01"),
        ("平成30年4月3日", "ja-JP", "2018-04-03"),
    ],
)
def test_years_of_other_calendars_are_counted_by_locale_or_era(text: str, locale: str, value: str) -> None:
    assert normalise_date(text, locale) == Normalised(value)


@pytest.mark.parametrize(
    ("text", "locale", "may_be"),
    [
        ("29/11/69", "th-TH", ("2069-11-29", "2026-11-29")),
        ("99/05/03", "zh-TW", ("1999-05-03", "2010-05-03")),
        ("99年5月3日", "zh-TW", ("1999-05-03", "2010-05-03")),
    ],
)
def test_a_short_year_of_two_calendars_is_a_finding_and_no_guess(
    text: str, locale: str, may_be: tuple[str, ...]
) -> None:
    assert normalise_date(text, locale) == Normalised(None, ("date_era_ambiguous",), may_be)


@pytest.mark.parametrize(
    ("text", "locale"),
    [("29/11/2569", "en-MY"), ("29/11/2569", "zh-CN"), ("115年11月29日", "zh-CN"), ("115/11/29", "ja-JP")],
)
def test_elsewhere_years_of_other_calendars_have_no_value(text: str, locale: str) -> None:
    assert normalise_date(text, locale).value is None


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("3. März 2026", "de-DE"),
        ("3 mars 2026", "fr-FR"),
        ("3 de marzo de 2026", "es-ES"),
        ("3 de março de 2026", "pt-BR"),
        ("3 maret 2026", "id-ID"),
        ("3 mrt. 2026", "nl-NL"),
        ("3 มี.ค. 2569", "th-TH"),
        ("3 March 2026", "de-DE"),
    ],
)
def test_months_are_named_in_the_language_of_the_locale_or_in_english(text: str, locale: str) -> None:
    assert normalise_date(text, locale) == Normalised("2026-03-03")


@given(DATES, st.sampled_from(["th-TH", "zh-TW"]))
def test_every_date_of_a_national_calendar_is_read_back(date: datetime.date, locale: str) -> None:
    if locale == "th-TH":
        printed = f"{date.day}/{date.month}/{date.year + 543}"
    else:
        printed = f"民國{date.year - 1911}年{date.month}月{date.day}日"
    assert normalise_date(printed, locale) == Normalised(date.isoformat())


@given(DATES)
def test_every_date_is_read_back_from_chinese_numerals(date: datetime.date) -> None:
    year = "".join("〇一二三四五六七八九"[int(digit)] for digit in str(date.year))
    printed = f"{year}年{section_written(date.month)}月{section_written(date.day)}日"
    assert normalise_date(printed, "zh-CN") == Normalised(date.isoformat())


@given(st.text(alphabet="0123456789/-. 年月日MARmay:"))
def test_any_text_gives_a_real_date_or_nothing(text: str) -> None:
    value = normalise_date(text, "en-MY").value
    assert value is None or datetime.date.fromisoformat(value if len(value) > 7 else f"{value}-01")


@given(st.text(alphabet="0123456789/-. 年月日MARmay:"))
def test_found_spans_never_overlap(text: str) -> None:
    found = find_dates(text, "en")
    assert all(before.end <= after.start for before, after in pairwise(found))
