import asyncio
import os
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.moderation.triage import Triage, is_installed
from kernelbot.protocol import Verdict
from tests.drawing.test_texts import account_of, variables_of
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

PATCHED = "# fake: accepted 0.5\nimport torch\ntorch.cuda.synchronize = lambda: None\n"
needs_kernelguard = pytest.mark.skipif(
    not is_installed(), reason="the extra `triage` isn't installed"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes one that answers as the lines of `answer(code)` say; returns its name."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def made(lines: str) -> str:
        body = f"def answer(code):\n{textwrap.indent(lines, '    ')}\n"
        run = 'serve(lambda request: answer(request["code"]), 1 << 28)\n'
        start = f"from kernelbot.drawing.serving import serve\n{body}{run}"
        (tmp_path / "answering.py").write_text(start)
        return "answering"

    return made


async def test_what_it_says_becomes_evidence(program: Callable[[str], str]) -> None:
    said = '{"matched_patterns": [{"pattern": "P", "severity": "high", "evidence": "e"}]}'
    async with Triage(program(f"return {said.encode()!r}")) as triage:
        (found,) = await triage.examine("x")
    assert ("kernelguard", "P", "high", "e") == (
        found.source,
        found.rule,
        found.severity,
        found.detail,
    )


@pytest.mark.parametrize("said", [b"", b"[]", b"null", b'{"matched_patterns": [1]}', b"\xff"])
async def test_nonsense_is_no_evidence(program: Callable[[str], str], said: bytes) -> None:
    async with Triage(program(f"return {said!r}")) as triage:
        assert () == await triage.examine("x")


async def test_of_many_long_findings_some_are_kept_in_part(program: Callable[[str], str]) -> None:
    lines = """
import json
found = {name: "x" * 1001 for name in ("pattern", "severity", "evidence")}
return json.dumps({"matched_patterns": [found] * 51}).encode()
"""
    async with Triage(program(lines)) as triage:
        found = await triage.examine("x")
    assert [(1000, 1000, 1000)] * 50 == [
        (len(one.rule), len(one.severity), len(one.detail)) for one in found
    ]


async def test_it_has_only_so_long(program: Callable[[str], str]) -> None:
    """Longer than pytest waits for a test."""
    async with Triage(program("import time\ntime.sleep(600)"), timeout_s=0.2) as triage:
        assert () == await triage.examine("x")


@needs_kernelguard
async def test_it_notices_a_patched_timer() -> None:
    async with Triage() as triage:
        found = await triage.examine(PATCHED)
    assert "TIMER_MONKEYPATCH" in {item.rule for item in found}


@needs_kernelguard
async def test_one_process_reads_source_after_source() -> None:
    hostile = "\"'\n\udcff\0" * 1000
    async with Triage() as triage:
        together = [triage.examine(code) for code in (PATCHED, hostile, "", PATCHED)]
        found = await asyncio.gather(*together)
    assert [True, False, False, True] == [
        "TIMER_MONKEYPATCH" in {item.rule for item in each} for each in found
    ]


async def test_after_one_that_it_dies_of_it_reads_the_next(program: Callable[[str], str]) -> None:
    lines = """
import json
assert code != "deadly"
found = {"pattern": code, "severity": "low", "evidence": ""}
return json.dumps({"matched_patterns": [found]}).encode()
"""
    async with Triage(program(lines)) as triage:
        found = [await triage.examine(code) for code in ("one", "deadly", "two")]
    assert [["one"], [], ["two"]] == [[item.rule for item in each] for each in found]


@needs_kernelguard
async def test_its_process_has_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", "secret-of-ours")
    async with Triage() as triage:
        await triage.examine(PATCHED)
        assert triage._program is not None
        assert triage._program._kept is not None
        pid = triage._program._kept._process.pid
        account = {"65534"} if os.geteuid() == 0 else {str(os.geteuid())}
        assert ("secret-of-ours" in variables_of(pid), account) == (False, account_of(pid))


@needs_kernelguard
async def test_findings_are_shown_to_organisers_and_refuse_nothing(
    world: World, tmp_path: Path
) -> None:
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await world.submit(content=PATCHED.encode())
        shown = await finished(world, sent.id)
    mine = await world.services.submissions.get(world.ada.user, sent.id)
    assert (Verdict.ACCEPTED, 1, ()) == (mine.verdict, mine.place, mine.evidence)
    assert "TIMER_MONKEYPATCH" in {item.rule for item in shown.evidence}


@pytest.mark.exhaustive  # each run has test_findings_are_shown_to_organisers_and_refuse_nothing
@needs_kernelguard
async def test_a_rule_that_was_chosen_refuses(world: World, tmp_path: Path) -> None:
    await world.board()
    settings = quick_settings(tmp_path)
    rules = replace(ReviewRules(), refuse_rules=("TIMER_MONKEYPATCH",))
    async with working(settings.model_copy(update={"review": rules}), world.database.url):
        sent = await world.submit(content=PATCHED.encode())
        await finished(world, sent.id)
    shown = await world.services.submissions.get(world.ada.user, sent.id)
    assert (Verdict.RULE_VIOLATION, None) == (shown.verdict, shown.place)
    assert "TIMER_MONKEYPATCH" in (shown.review_reason or "")
