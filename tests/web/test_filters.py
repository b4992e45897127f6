"""What templates say of values from elsewhere."""

from kernelbot.web.filters import name


def test_a_long_name_may_break_after_its_underscores_and_nowhere_as_html() -> None:
    assert "<bdi>sum_<wbr>of_<wbr>squares</bdi>" == name("sum_of_squares")
    assert "<bdi>&lt;b&gt;_<wbr>&amp;</bdi>" == name("<b>_&")
