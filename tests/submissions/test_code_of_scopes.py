"""Code is the same whatever it calls its own variables, but for what others can see."""

import pytest

from kernelbot.protocol import Lang
from kernelbot.submissions.same_code import code_digest

COUNTS = """\
calls = 0
def custom_kernel(data):
    {declared} calls
    calls = calls + 1
    return data
"""


@pytest.mark.parametrize("local", ["pass; calls = 0;", "import calls;"])
def test_a_global_variable_is_none_of_its_own(local: str) -> None:
    declared = COUNTS.format(declared="global")
    assert code_digest(declared, Lang.PY) != code_digest(
        declared.replace("global calls", "global other"), Lang.PY
    )
    assert code_digest(declared, Lang.PY) != code_digest(COUNTS.format(declared=local), Lang.PY)


def test_a_global_variable_is_not_what_a_parameter_is_called() -> None:
    plain = "def custom_kernel(data):\n    global seen\n    seen = 1\n    return data\n"
    other = plain.replace("global seen", "global kept").replace("seen = 1", "kept = 1")
    assert code_digest(plain, Lang.PY) != code_digest(other, Lang.PY)


def test_up_to_65536_characters_are_compared_by_more_than_tokens() -> None:
    head = "def custom_kernel(data):\n    row = data\n    return row\n"
    longest = head + "#" * ((1 << 16) - len(head))
    assert code_digest(longest, Lang.PY) == code_digest(longest.replace("row", "col"), Lang.PY)
    longer = longest + "#"
    assert code_digest(longer, Lang.PY) != code_digest(longer.replace("row", "col"), Lang.PY)
