"""Source code gets colours and files are compared, unless that was made to take for ever."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.drawing import texts as module
from kernelbot.drawing.texts import Texts
from tests.support.exhaustive import cases

SLOW_TO_COLOUR = " \n" * 29_990 + "x"
NUMBERS = [f"{n % 150}\n" for n in range(19_000)]
SLOW_TO_COMPARE = "".join(NUMBERS), "".join(sorted(NUMBERS))


def account_of(pid: int) -> set[str]:
    """Its users and groups, whichever kind of them."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = [line.split()[1:] for line in status if line.startswith(("Uid:", "Gid:", "Groups:"))]
    return {number for field in fields for number in field}


def variables_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text()


@pytest.fixture
async def texts() -> AsyncIterator[Texts]:
    found = Texts(patience_s=60)
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


@pytest.mark.parametrize("name", cases(["a.py", "a.cu"], always=["a.py"]))
async def test_what_takes_too_long_gets_none_and_is_not_tried_again(
    texts: Texts, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    await texts.coloured("x", name)
    monkeypatch.setattr(module, "_LIMIT_S", 0.3)
    assert await texts.coloured(SLOW_TO_COLOUR, name) is None
    again = asyncio.create_task(texts.coloured(SLOW_TO_COLOUR, name))
    await asyncio.sleep(0)
    assert (True, {}) == (again.done(), texts._answers._asked)
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


@pytest.mark.exhaustive  # each run has test_what_takes_too_long_gets_none_and_is_not_tried_again
async def test_what_takes_too_long_is_not_compared(
    texts: Texts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await texts.coloured("a", "a.py")
    monkeypatch.setattr(module, "_LIMIT_S", 0.3)
    assert await texts.compared("a\n" * 30_000, "b") is None
    assert await texts.coloured(SLOW_TO_COLOUR, "a.py") is None
    monkeypatch.undo()
    assert await texts.compared("a", "b") is not None
    assert await texts.compared(*SLOW_TO_COMPARE) is not None


async def test_nobody_waits_and_it_is_there_later() -> None:
    texts = Texts(patience_s=0)
    try:
        assert await texts.compared("a", "b") is None
        await asyncio.gather(*texts._answers._asked.values())
        assert ["-a", "+b"] == (await texts.compared("a", "b") or [])[-2:]
    finally:
        await texts.close()


async def test_who_asks_for_much_at_once_leaves_room_for_others() -> None:
    texts = Texts(patience_s=0)
    try:
        for number in range(6):
            await texts.compared("a", str(number), asker=1)
        mine = len(texts._answers._asked)
        await texts.compared("a", "b", asker=2)
        await texts.compared("a", "c")
        assert (3, 5) == (mine, len(texts._answers._asked))
        await asyncio.gather(*texts._answers._asked.values())
        assert await texts.compared("a", "5", asker=1) is None  # it wasn't begun before
        assert 1 == len(texts._answers._asked)
    finally:
        await texts.close()


async def test_the_program_has_none_of_our_secrets(
    texts: Texts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", "secret-of-ours")
    await texts.coloured("x", "a.py")
    kept = texts._colours._kept
    assert kept is not None
    assert "secret-of-ours" not in variables_of(kept._process.pid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_as_root_they_are_nobody(texts: Texts) -> None:
    for name in ("a.py", "a.cu", "a.yml", "a"):
        assert await texts.coloured("x = 1  # <b>\n", name) is not None
    assert await texts.compared("a", "b") is not None
    for program in (texts._colours, texts._differences):
        assert program._kept is not None
        assert {"65534"} == account_of(program._kept._process.pid)
