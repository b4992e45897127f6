"""What is tried on the bot's machine, by the real harness."""

import asyncio
import contextlib
import shutil
import threading
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from kernelbot.bot.machine import OnLine
from kernelbot.protocol import RunResult, SourceFile
from kernelbot.server.trying import this_machine
from tests.bot.stage import ADMIN, CREATOR, Stage, open_stage
from tests.bot.transcripts import seen
from tests.fakes.discord import FakeMessage, Interaction, Upload
from tests.support.postgres import TestServer
from tests.support.problem_sets import write_problem
from tests.support.problems import CORRECT, WRONG

pytestmark = pytest.mark.asyncio(loop_scope="module")

CUDA = b'#include <cstdio>\nint main() { printf("hello\\n"); return 3; }\n'
SCRIPT = Upload("train.py", b"print('hello ``` @everyone')\n")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(
    postgres: TestServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """On a machine with one small problem."""
    folder = tmp_path_factory.mktemp("machine")
    (folder / "kernelbot.toml").write_text("warm = []\n")
    write_problem(folder, "sorting")
    for kind, text in (("correct", CORRECT), ("wrong", WRONG)):
        (folder / "sorting" / "solutions" / kind).mkdir(parents=True)
        (folder / "sorting" / "solutions" / kind / "one.py").write_bytes(text)
    with postgres.database() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELBOT_CONFIG", str(folder / "kernelbot.toml"))
        patch.setenv("PROBLEM_DEV_DIR", str(folder))
        async with open_stage(url) as stage:
            stage.machine = this_machine()
            async with stage.running() as bot:
                stage.bot = bot
                yield stage


def original(interaction: Interaction) -> FakeMessage:
    assert interaction.original is not None
    return interaction.original


async def answered(stage: Stage, interaction: Interaction) -> str:
    await stage.discord.until(lambda: "..." not in original(interaction).content, within_s=60)
    return original(interaction).content


@pytest.mark.exhaustive  # each run has test_a_mention_in_the_text_is_told_to_attach_a_file
async def test_every_launcher_is_verified(stage: Stage) -> None:
    asked = await stage.person("olga", ADMIN).runs("verifyruns")
    lines = (await answered(stage, asked)).splitlines()
    assert ("Runs: ✅ all is well", True) == (lines[0], lines[2].startswith("✓ CPU by local: "))


@pytest.mark.exhaustive
async def test_a_problems_solutions_are_judged(stage: Stage) -> None:
    olga = stage.person("olga", ADMIN)
    assert ["identity_np"] == await olga.completes("verify-task", "task", "identity")
    asked = await olga.runs("verify-task", task="sorting")
    lines = (await answered(stage, asked)).splitlines()
    assert [
        "Solutions of `sorting`: ✅ all is well",
        "```",
        "✓ correct/one.py: accepted",
        "✓ wrong/one.py: wrong_answer",
        "```",
    ] == lines
    tested = await olga.runs("verify-task", task="sorting", mode="test")
    assert lines == (await answered(stage, tested)).splitlines()
    unknown = await olga.runs("verify-task", task="../sorting")
    assert "There is no problem folder named" in await answered(stage, unknown)


@pytest.mark.exhaustive  # each run has test_a_ranked_submission (test_submit.py)
async def test_a_script_is_run_and_its_output_shown(stage: Stage) -> None:
    carl = stage.person("carl")
    asked = await carl.runs("run auto", script=SCRIPT)
    text = original(asked).content
    assert "✓ `train.py` on `CPU`: ended well" == text.splitlines()[0]
    assert ("hello" in text, 2) == (True, text.count("```"))
    failing = Upload("x.py", b"print('x' * 5000)\nraise ValueError('no')")
    long = await carl.runs("run auto", script=failing, gpu="cpu")
    (file,) = original(long).files
    assert (True, True) == (b"x" * 5000 in file.content, b"ValueError: no" in file.content)
    nowhere = await carl.runs("run auto", script=SCRIPT, gpu="a'; echo x")
    assert "There is no device named" in original(nowhere).content


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.exhaustive
async def test_a_script_in_cuda_is_compiled_and_run(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    asked = await carl.runs("run local", gpu_type="CPU", script=Upload("a'; x.cu", CUDA))
    assert original(asked).content == (
        "✗ `a'; x.cu` on `CPU`: failed\n```\nhello\nIt ended with exit code 3.\n```"
    )
    broken = await carl.runs("run auto", script=Upload("x.cu", b"int main() { return y; }"))
    assert 'identifier "y" is undefined' in original(broken).content


@pytest.mark.exhaustive
async def test_a_launcher_is_named_with_a_device_of_its(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    assert ["CPU"] == await carl.completes("run local", "gpu_type", "c")
    assert [] == await carl.completes("run modal", "gpu_type", "")
    by_vendor = await carl.runs("run local", gpu_type="cpu", script=SCRIPT)
    assert "ended well" in original(by_vendor).content
    elsewhere = await carl.runs("run github", gpu_type="NVIDIA", script=SCRIPT)
    assert "❌ No device here is reached by github." in original(elsewhere).content
    nowhere = await carl.runs("run local", gpu_type="H100", script=SCRIPT)
    assert "❌ There is no device named 'H100' by local.\nThere is: CPU." == (
        original(nowhere).content
    )
    strange = await carl.runs("run auto", script=Upload("x.cpp", b"1"))
    assert "❌ 'x.cpp' is no script." in original(strange).content


@pytest.mark.exhaustive
async def test_a_script_of_a_message_is_run_by_its_menu(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    message = await carl.says("look", SCRIPT)
    asked = await carl.uses_menu("Run this", message)
    assert "ended well" in original(asked).content
    none = await carl.uses_menu("Run this", await carl.says("nothing"))
    assert "❌ This message has no script." in original(none).content


@pytest.mark.exhaustive  # each run has test_a_mention_in_the_text_is_told_to_attach_a_file
async def test_a_mention_with_a_script_runs_it_in_a_thread(stage: Stage) -> None:
    eve = stage.person("eve")
    await eve.says("run it", SCRIPT, mentions_bot=True)
    await stage.discord.until(lambda: "bot in thread Output of train.py" in stage.told, 60)
    assert "ended well" in stage.told


async def test_a_mention_in_the_text_is_told_to_attach_a_file(stage: Stage) -> None:
    eve = stage.person("eve")
    await eve.says("thanks", replies_to_bot=True)
    await eve.says("hello", Upload("x.txt", b"1"), mentions_bot=True)
    await stage.discord.until(lambda: "Attach" in stage.told)
    await eve.runs("ping")
    assert stage.told.count("bot in #general: Attach a .py or .cu file, and I run it.") == 1


@pytest.mark.exhaustive
async def test_a_mention_is_answered_in_place_where_there_can_be_no_thread(stage: Stage) -> None:
    eve = stage.person("eve")
    script = Upload("eve.py", b"print('hello')\n")
    await eve.says("run it", script, mentions_bot=True)
    where = "bot in thread Output of eve.py: ✓"
    await stage.discord.until(lambda: stage.told.count(where) == 1, 60)
    await eve.says("again", script, channel="Output of eve.py", mentions_bot=True)
    await stage.discord.until(lambda: stage.told.count(where) == 2, 60)
    assert [50024] == [one.code for one in stage.discord.refused]
    stage.discord.refused.clear()
    stage.discord.trouble("/attachments", 500)
    await eve.says("run it", SCRIPT, mentions_bot=True)
    await stage.discord.until(lambda: "bot in #general: ❌ Something broke" in stage.told)


async def test_a_banned_person_runs_nothing(stage: Stage) -> None:
    olga, mallory = stage.person("olga", ADMIN), stage.person("mallory")
    services = stage.world.services
    await services.users.ban(await stage.acting(olga), (await stage.acting(mallory)).id)
    asked = await mallory.runs("run auto", script=SCRIPT)
    assert "❌ This account is banned.\nAsk an admin." == original(asked).content
    await mallory.says("run it", SCRIPT, mentions_bot=True)
    await stage.discord.until(lambda: "bot in #general: ❌ This account is banned." in stage.told)


@pytest.mark.exhaustive
async def test_an_answer_after_discords_15_minutes_is_a_message_of_the_channel(
    stage: Stage,
) -> None:
    gate = asyncio.Event()
    eve = stage.person("eve")
    async with held_up(stage, gate) as begun:
        asked = await eve.starts("run auto", script=SCRIPT)
        await begun.wait()
        asked.expired = True
        again = await eve.runs("run auto", script=SCRIPT)
        assert "❌ A script of yours runs or waits already." in original(again).content
        gate.set()
        await stage.discord.until(lambda: "#submissions: eve: ✓ `train.py` on" in stage.told, 60)
        assert not asked.messages


async def test_what_is_verified_for_longer_is_told_in_the_channel_and_one_at_a_time(
    stage: Stage,
) -> None:
    assert stage.bot is not None
    machine, late, gate = this_machine(), threading.Event(), threading.Event()

    def verify(on_line: OnLine) -> bool:
        late.wait(60)
        on_line("a line")
        return gate.wait(60)

    edits, requests = "PATCH /webhooks/{app}/{token}/messages/{message}", stage.discord.requests
    stage.bot.machine = replace(machine, verify_runs=verify)
    try:
        asked = await stage.person("olga", ADMIN).runs("verifyruns")
        asked.expired, before = True, requests[edits]
        late.set()
        await stage.discord.until(lambda: requests[edits] > before)
        assert stage.bot.one_at_a_time.locked()
    finally:
        gate.set()
        stage.bot.machine = machine
    await stage.discord.until(lambda: "#submissions: olga: Runs: ✅ all is well" in stage.told)


@contextlib.asynccontextmanager
async def held_up(stage: Stage, gate: asyncio.Event) -> AsyncIterator[asyncio.Event]:
    """Scripts wait for the gate, as for a scheduler's queue; what is yielded says that one does."""
    assert stage.bot is not None
    machine = this_machine()
    begun = asyncio.Event()

    async def run_script(script: SourceFile, device: str, kind: str | None) -> RunResult:
        begun.set()
        await gate.wait()
        return await machine.run_script(script, device, kind)

    stage.bot.machine = replace(machine, run_script=run_script)
    try:
        yield begun
    finally:
        stage.bot.machine = machine


@pytest.mark.exhaustive
async def test_whole_transcripts_of_verifying(stage: Stage) -> None:
    olga = stage.person("olga", ADMIN)
    await answered(stage, await olga.runs("verifyruns"))
    await answered(stage, await olga.runs("verify-task", task="sorting", mode="test"))
    assert (
        seen(stage, olga)
        == """olga: /verifyruns
bot (only olga): Runs: ...
bot edits (only olga): Runs: ✅ all is well
```
✓ CPU by local: small-job was accepted on CPU (N s)
```
olga: /verify-task task:sorting mode:test
bot (only olga): Solutions of `sorting`: ...
bot edits (only olga): Solutions of `sorting`: ✅ all is well
```
✓ correct/one.py: accepted
✓ wrong/one.py: wrong_answer
```"""
    )


@pytest.mark.exhaustive
async def test_whole_transcripts_of_scripts(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    script = Upload("train.py", b"print('hello')\n")
    await carl.runs("run auto", script=script)
    await carl.runs("run local", gpu_type="CPU", script=script)
    for kind in ("modal", "github", "slurm", "buildkite", "kubernetes", "ray"):
        await carl.runs(f"run {kind}", gpu_type="H100", script=script)
    message = await carl.says("look", script)
    await carl.uses_menu("Run this", message)
    await carl.says("run it", script, mentions_bot=True)
    await stage.discord.until(lambda: "thread Output of" in stage.told, 60)
    assert (
        seen(stage, carl)
        == """carl: /run auto script:train.py
bot (only carl): ✓ `train.py` on `CPU`: ended well
```
hello
```
carl: /run local gpu_type:CPU script:train.py
bot (only carl): ✓ `train.py` on `CPU`: ended well
```
hello
```
carl: /run modal gpu_type:H100 script:train.py
bot (only carl): ❌ No device here is reached by modal.
The operator names launchers and devices in kernelbot.toml.
carl: /run github gpu_type:H100 script:train.py
bot (only carl): ❌ No device here is reached by github.
The operator names launchers and devices in kernelbot.toml.
carl: /run slurm gpu_type:H100 script:train.py
bot (only carl): ❌ No device here is reached by slurm.
The operator names launchers and devices in kernelbot.toml.
carl: /run buildkite gpu_type:H100 script:train.py
bot (only carl): ❌ No device here is reached by buildkite.
The operator names launchers and devices in kernelbot.toml.
carl: /run kubernetes gpu_type:H100 script:train.py
bot (only carl): ❌ No device here is reached by kubernetes.
The operator names launchers and devices in kernelbot.toml.
carl: /run ray gpu_type:H100 script:train.py
bot (only carl): ❌ No device here is reached by ray.
The operator names launchers and devices in kernelbot.toml.
carl in #general: look [file train.py]
carl uses 'Run this' on a message
bot (only carl): ✓ `train.py` on `CPU`: ended well
```
hello
```
carl in #general: run it [file train.py]
bot in thread Output of train.py: ✓ `train.py` on `CPU`: ended well
```
hello
```"""
    )


async def test_competitors_may_not(stage: Stage) -> None:
    eve = stage.person("eve")
    asked = [await eve.runs("verifyruns"), await eve.runs("verify-task", task="x")]
    assert [True] * 2 == [original(one).content.startswith("❌ Only ") for one in asked]
