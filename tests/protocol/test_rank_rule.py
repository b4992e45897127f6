"""How a rule makes one number of several, and that each says so."""

import pytest

from kernelbot.protocol import RankRule, Verdict


@pytest.mark.parametrize(
    ("rule", "expected"), [(RankRule.LAST, 8.0), (RankRule.MEAN, 5.0), (RankRule.GEOM, 4.0)]
)
def test_what_a_rule_makes_of_two(rule: RankRule, expected: float) -> None:
    assert expected == pytest.approx(rule.combine([2.0, 8.0]))


def test_only_by_the_last_are_the_others_not_timed() -> None:
    assert [RankRule.LAST] == [rule for rule in RankRule if rule.only_last]


@pytest.mark.parametrize("entry", [*RankRule, *Verdict])
def test_each_says_itself_in_words(entry: RankRule | Verdict) -> None:
    assert "" != entry.words
    assert entry is type(entry)(entry.value)
