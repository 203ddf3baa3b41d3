"""Numbers written in Chinese capitals, by the rules for filling in bank forms: the other way round than the parser."""

CAPITAL = "零壹贰叁肆伍陆柒捌玖"
SMALL_UNITS = ("", "拾", "佰", "仟")
SECTIONS = ("", "万", "亿")


def section_written(number: int) -> str:
    """0 to 9999 in capitals, with one 零 for each run of zeros inside."""
    written, is_gap = "", False
    for power in (3, 2, 1, 0):
        digit = number // 10**power % 10
        if digit:
            written += ("零" if is_gap and written else "") + CAPITAL[digit] + SMALL_UNITS[power]
            is_gap = False
        else:
            is_gap = True
    return written


def written(number: int) -> str:
    """As the rules for filling in bank forms have it."""
    parts, is_gap = "", False
    for power in (2, 1, 0):
        section = number // 10_000**power % 10_000
        if section:
            needs_zero = bool(parts) and (is_gap or section < 1000)
            parts += ("零" if needs_zero else "") + section_written(section) + SECTIONS[power]
            is_gap = section % 10 == 0
        else:
            is_gap = is_gap or bool(parts)
    return parts or "零"
