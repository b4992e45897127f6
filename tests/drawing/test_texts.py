"""Source code gets colours and files are compared, unless that was made to take for ever."""

import time
from collections.abc import AsyncIterator

import pytest

from kernelbot.drawing import texts as module
from kernelbot.drawing.texts import Texts

SLOW_TO_COLOUR = " \n" * 29_990 + "x"
NUMBERS = [f"{n % 150}\n" for n in range(19_000)]
SLOW_TO_COMPARE = "".join(NUMBERS), "".join(sorted(NUMBERS))


@pytest.fixture
async def texts() -> AsyncIterator[Texts]:
    found = Texts()
    yield found
    await found.close()


async def test_each_line_gets_its_colours(texts: Texts) -> None:
    found = await texts.coloured("import os\n'<b>'", "a.py")
    assert found is not None
    assert [True, True] == ["<span" in line for line in found]
    assert "<b>" not in found[1]


@pytest.mark.parametrize("name", ["a.py", "a.cu", "a.cpp", "a.yml", "a", "a'; echo x"])
async def test_any_name_will_do(texts: Texts, name: str) -> None:
    assert 2 == len(await texts.coloured("x = 1\n<y>", name) or ())


@pytest.mark.parametrize("name", ["a.py", "a.cu"])
async def test_what_takes_too_long_gets_none_and_is_not_tried_again(
    texts: Texts, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    await texts.coloured("x", name)
    monkeypatch.setattr(module, "_LIMIT_S", 0.3)
    assert await texts.coloured(SLOW_TO_COLOUR, name) is None
    start_s = time.monotonic()
    assert await texts.coloured(SLOW_TO_COLOUR, name) is None
    assert time.monotonic() - start_s < 0.2
    monkeypatch.undo()
    assert await texts.coloured("x", "b" + name) is not None


async def test_large_files_are_not_tried(texts: Texts) -> None:
    assert await texts.coloured("x = 1\n" * 20_000, "a.py") is None
    assert await texts.coloured("x" * 3_000, "a.py") is None


async def test_a_difference_names_both(texts: Texts) -> None:
    assert ["--- 1", "+++ 2", "@@ -1,2 +1,2 @@", " a", "-b", "+c"] == await texts.compared(
        "a\nb\n", "a\nc\n", ("1", "2")
    )


async def test_the_same_is_no_difference(texts: Texts) -> None:
    assert [] == await texts.compared("a", "a")


async def test_what_takes_too_long_is_not_compared(
    texts: Texts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await texts.compared("a", "b")
    monkeypatch.setattr(module, "_LIMIT_S", 0.3)
    assert await texts.compared(*SLOW_TO_COMPARE) is None
    assert await texts.compared("a\n" * 30_000, "b") is None
    monkeypatch.undo()
    assert await texts.compared("a", "b") is not None
