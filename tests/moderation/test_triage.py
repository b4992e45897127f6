import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.moderation.reviews.service import ReviewRules
from kernelbot.moderation.triage import Triage, is_installed
from kernelbot.protocol import Verdict
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

PATCHED = "# fake: accepted 0.5\nimport torch\ntorch.cuda.synchronize = lambda: None\n"
needs_kernelguard = pytest.mark.skipif(
    not is_installed(), reason="the extra `triage` isn't installed"
)


def _command(program: str) -> tuple[str, ...]:
    return (sys.executable, "-c", program)


async def test_what_it_says_becomes_evidence() -> None:
    said = '{"matched_patterns": [{"pattern": "P", "severity": "high", "evidence": "e"}]}'
    async with Triage(_command(f"print({said!r})")) as triage:
        (found,) = await triage.examine("x")
    assert ("kernelguard", "P", "high", "e") == (
        found.source,
        found.rule,
        found.severity,
        found.detail,
    )


@pytest.mark.parametrize("said", ["", "[]", "null", '{"matched_patterns": [1]}', "\\xff"])
async def test_nonsense_is_no_evidence(said: str) -> None:
    async with Triage(_command(f"print({said!r})")) as triage:
        assert () == await triage.examine("x")


@pytest.mark.timed
async def test_it_has_only_so_long() -> None:
    began = time.monotonic()
    async with Triage(_command("import time; time.sleep(60)"), timeout_s=0.2) as triage:
        found = await triage.examine("x")
    assert (found, time.monotonic() - began < 10) == ((), True)


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


async def test_after_one_that_it_dies_of_it_reads_the_next() -> None:
    answers = """
import json, sys
for line in sys.stdin:
    rule = json.loads(line)
    assert rule != "deadly"
    found = {"pattern": rule, "severity": "low", "evidence": ""}
    print(json.dumps({"matched_patterns": [found]}), flush=True)
"""
    async with Triage(_command(answers)) as triage:
        found = [await triage.examine(code) for code in ("one", "deadly", "two")]
    assert [["one"], [], ["two"]] == [[item.rule for item in each] for each in found]


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
