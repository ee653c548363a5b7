"""Numbers in digits of full width, and dates by the eras of Japan, are read as what they are."""

from __future__ import annotations

from datetime import date

import pytest

from commons.tabular.cells import limit_in
from commons.tabular.dialect import Writing, has_digits_only, names_one_day
from commons.tabular.eastern import in_common_years, narrow_number

ERA = "%EC%Ey年%m月%d日"
DOTS = "%EC%Ey.%m.%d"


def read(text, form):
    days = Writing(date_format=form).day(text)
    return None if days is None else date.fromordinal(date(1970, 1, 1).toordinal() + days)


@pytest.mark.parametrize(
    ("text", "form", "day"),
    [
        ("昭和42年11月3日", ERA, date(1967, 11, 3)),
        ("令和5年5月5日", ERA, date(2023, 5, 5)),
        ("令和元年５月１日", ERA, date(2019, 5, 1)),
        ("平成３１年４月３０日", ERA, date(2019, 4, 30)),
        ("大正15年12月24日", ERA, date(1926, 12, 24)),
        ("明治45年7月29日", ERA, date(1912, 7, 29)),
        ("平成35年1月1日", ERA, date(2023, 1, 1)),  # as it was written before the era had ended
        ("S42.11.3", DOTS, date(1967, 11, 3)),
        ("Ｒ５．５．５", DOTS, date(2023, 5, 5)),
        ("R05.05.05", DOTS, date(2023, 5, 5)),
        ("R03.05.06 12:14", f"{DOTS} %H:%M", date(2021, 5, 6)),
        ("２０２３／０５／０１", "%Y/%m/%d", date(2023, 5, 1)),
        ("２０２３年５月１日", "%Y年%m月%d日", date(2023, 5, 1)),
        ("２０２３-０５-０１", "", date(2023, 5, 1)),
        ("2023／05／01", "%Y／%m／%d", date(2023, 5, 1)),
    ],
)
def test_dates_of_eras_and_of_full_width_are_days(text, form, day):
    assert read(text, form) == day


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("昭和42年2月30日", ERA),
        ("昭和0年1月1日", ERA),
        ("昭和100年1月1日", ERA),
        ("X42.11.3", DOTS),
        ("S42.13.3", DOTS),
        ("1967年11月3日", ERA),
        ("昭和42年11月3日", "%Y年%m月%d日"),
        ("42.11.3", DOTS),
        ("٤٢.11.3", DOTS),
    ],
)
def test_what_is_no_such_date_is_none(text, form):
    assert read(text, form) is None


@pytest.mark.parametrize("form", [ERA, DOTS, f"{DOTS} %H:%M"])
def test_forms_with_an_era_name_a_day(form):
    assert names_one_day(form)
    assert has_digits_only(form)


@pytest.mark.parametrize("form", ["%EC.%m.%d", "%Ey.%m.%d", "%Ey%EC.%m.%d", "%EC%Ey.%Y.%m.%d", "%EC%Ey.%m"])
def test_half_an_era_or_two_years_are_no_form(form):
    assert not has_digits_only(form)


@pytest.mark.parametrize(
    ("text", "number", "writing"),
    [
        ("７８", "78", Writing()),
        ("６６．７", "66.7", Writing()),
        ("－３", "-3", Writing()),
        ("１，２３４", "1234", Writing(thousands=",")),
        ("６６，７", "66.7", Writing(",")),
        ("５０ｋｇ", "50", Writing(suffix="ｋｇ")),
        ("＜０．４", "0.4", Writing(below_limit="limit")),
    ],
)
def test_digits_of_full_width_are_digits(text, number, writing):
    assert writing.plain_number(text) == number
    assert limit_in(text) is not None or writing.plain_numbers([text, "1"]) == [number, "1"]


def test_other_digits_and_letters_stay_as_they_are():
    assert narrow_number("ＡＢ①٣") == "ＡＢ①٣"
    assert Writing().plain_number("٣") is None


def test_codes_of_diagnoses_are_no_years_where_letters_do_not_count():
    assert in_common_years("S42.11", names_only=True) == "S42.11"
    assert in_common_years("昭和42年1月2日", names_only=True) == "1967年1月2日"
