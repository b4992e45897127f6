"""`/leaderboard submit`, with a worker over the harness's fake host."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from tests.bot.stage import ADMIN, Stage, open_stage
from tests.bot.transcripts import seen
from tests.fakes.discord import FakeMessage, Interaction, Person, Upload
from tests.support.postgres import TestServer
from tests.support.waiting import until_told
from tests.support.workers import quick_settings, working

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(
    postgres: TestServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """With a bot, a worker, and a board for tests that need just any."""
    settings = quick_settings(tmp_path_factory.mktemp("worker"))
    with postgres.database() as url:
        async with open_stage(url) as stage, stage.running() as bot, working(settings, url):
            stage.bot = bot
            await stage.world.board("sort")
            yield stage


def script(words: str, name: str = "fast.py", *header: str) -> Upload:
    """A file of which the fake host does what its first line says."""
    return Upload(name, "\n".join([f"# fake: {words}", *header, ""]).encode())


async def ended(stage: Stage, interaction: Interaction) -> FakeMessage:
    """The message that tells of the submission, with the reports that it has at its end."""

    def over() -> bool:
        message = interaction.original
        return message is not None and any(f.name.startswith("report-") for f in message.files)

    await stage.discord.until(over)
    assert interaction.original is not None
    return interaction.original


def numbered(text: str) -> str:
    """With submissions' numbers left out."""
    return re.sub(r"submission \d+|#\d+", "submission N", text)


async def submitted(
    stage: Stage, person: Person, mode: str, file: Upload, **options: str
) -> Interaction:
    return await person.runs(f"leaderboard submit {mode}", script=file, **options)


async def said(stage: Stage, text: str) -> None:
    """Wait until it stands in the transcript."""
    await stage.discord.until(lambda: text in stage.discord.transcript.text)


async def test_a_test_tells_its_progress_in_one_message(stage: Stage) -> None:
    await stage.world.board("whole")
    ada = stage.person("ada")
    asked = await submitted(
        stage, ada, "test", script("sleep 0.2 accepted"), leaderboard_name="whole"
    )
    message = await ended(stage, asked)
    assert (
        seen(stage, ada)
        == """ada: /leaderboard submit test script:fast.py leaderboard_name:whole
bot edits (only ada): **whole**, test: `fast.py`, submission N
✓ CPU public: accepted
[file report-CPU-public.txt]"""
    )
    assert "Position 1 in the queue for CPU" in stage.discord.transcript.text
    assert 1 == len(asked.messages)
    assert b"accepted" in message.files[0].content


async def test_a_benchmark_and_a_profile(stage: Stage) -> None:
    await stage.world.board("timed")
    cleo = stage.person("cleo")
    for mode in ("benchmark", "profile"):
        file = script("accepted 2.0 1.9 2.1", "fast.py", f"# {mode}")
        await ended(stage, await submitted(stage, cleo, mode, file, leaderboard_name="timed"))
    assert (
        seen(stage, cleo)
        == """cleo: /leaderboard submit benchmark script:fast.py leaderboard_name:timed
bot edits (only cleo): **timed**, benchmark: `fast.py`, submission N
✓ CPU public: accepted, 2.00 s
  `size: 10000; seed: 7`: 2.00 s
[file report-CPU-public.txt]
cleo: /leaderboard submit profile script:fast.py leaderboard_name:timed
bot edits (only cleo): **timed**, profile: `fast.py`, submission N
✓ CPU public: accepted
[file report-CPU-public.txt]
[file profile.0.trace.json.gz]
[file _a___echo_x]
[file 2-_a___echo_x]"""
    )


async def test_a_ranked_submission(stage: Stage) -> None:
    await stage.world.board("single")
    dina = stage.person("dina")
    file = script("accepted 2.0 1.9 2.1", "fast.py", "# dina")
    await ended(stage, await submitted(stage, dina, "ranked", file, leaderboard_name="single"))
    await said(stage, "first score")
    assert (
        seen(stage, dina)
        == """dina: /leaderboard submit ranked script:fast.py leaderboard_name:single
bot edits (only dina): **single**, ranked: `fast.py`, submission N
✓ CPU public: accepted
✓ CPU secret: accepted
  95 % interval 1.77 to 2.25 s: 1.90 to 2.10 s of this judging, and ±11 % between judgings, \
which is assumed: the device had shown nothing of that yet
**CPU**: 2.00 s, place 1 of 1 🥇; your first on this device.
[file report-CPU-public.txt]
[file report-CPU-secret.txt]
bot in #submissions: dina on **single** (CPU): first score 2.00 s, place 1 of 1 🥇"""
    )


async def test_who_submits_takes_part_from_then_on(stage: Stage) -> None:
    zoe, role = stage.person("zoe"), stage.guild.role("Leaderboard Participant").id
    await ended(
        stage,
        await submitted(stage, zoe, "test", script("accepted"), leaderboard_name="sort"),
    )
    await stage.discord.until(lambda: role in zoe.user.roles)
    given = "PUT /guilds/{guild}/members/{user}/roles/{role}"
    before = stage.discord.requests[given]
    again = await submitted(stage, zoe, "test", script("accepted"), leaderboard_name="sort")
    await ended(stage, again)
    stage.guild.bot_may, may = 0, stage.guild.bot_may
    await ended(
        stage,
        await submitted(
            stage, stage.person("yan"), "test", script("accepted"), leaderboard_name="sort"
        ),
    )
    stage.guild.bot_may = may
    assert before + 1 == stage.discord.requests[given]


async def test_a_failure_says_what_failed(stage: Stage) -> None:
    await stage.world.board("failing")
    ada = stage.person("ada")
    file = script("wrong_answer", "a'; echo x.py")
    asked = await submitted(stage, ada, "test", file, leaderboard_name="failing")
    message = await ended(stage, asked)
    assert numbered(message.content) == (
        "**failing**, test: `a'; echo x.py`, submission N\n✗ CPU public: wrong answer\n"
        "```\nseeds␀ and ? more\n```"
    )


async def test_a_long_failure_is_shown_as_far_as_it_fits(stage: Stage) -> None:
    await stage.world.board("long-failure")
    file = script("compile_error", "fast.py", "# says: 5000")
    asked = await submitted(
        stage, stage.person("ada"), "test", file, leaderboard_name="long-failure"
    )
    message = await ended(stage, asked)
    assert 1940 <= len(message.content) <= 2000
    assert message.content.endswith("`\u200b\n```")
    (report,) = message.files
    assert b"`" * 5000 in report.content


@pytest.mark.exhaustive  # each run has test_a_long_failure_is_shown_as_far_as_it_fits
async def test_ranked_ends_with_place_and_gain_and_is_told_to_everyone(stage: Stage) -> None:
    await stage.world.board("ranks")
    ada, bob = stage.person("ada"), stage.person("bob")
    for words in ("accepted 2.0 1.9 2.1", "accepted 1.0 0.9 1.1"):
        asked = await submitted(stage, ada, "ranked", script(words), leaderboard_name="ranks")
        await ended(stage, asked)
    other = await submitted(
        stage, bob, "ranked", script("accepted 1.25 1.2 1.3"), leaderboard_name="ranks"
    )
    await ended(stage, other)
    again = await submitted(
        stage, bob, "ranked", script("accepted 1.25 1.2 1.3"), leaderboard_name="ranks"
    )
    await ended(stage, again)
    await said(stage, "first score 1.25 s")
    ends = [
        numbered(interaction.original.content).splitlines()[-1]
        for interaction in (asked, other, again)
        if interaction.original
    ]
    assert [
        "**CPU**: 1.00 s, place 1 of 1 🥇; personal best, 2.00 times as fast as before (2.00 s).",
        (
            "**CPU**: 1.25 s, place 2 of 2 🥈; your first on this device;"
            " 25.0% behind the leader (1.00 s)."
        ),
        "**CPU**: 1.25 s. Not ranked: it is the same code as submission N, which counts once.",
    ] == ends
    shown = [e.text for e in stage.discord.transcript.entries if "**ranks**, ranked" in e.text]
    waited = [text for text in shown if "Position 1 in" in text]
    assert "Not ranked: it is the same code" in waited[-1]
    assert asked.original
    names = [file.name for file in asked.original.files]
    assert ["progress-CPU.png", "report-CPU-public.txt", "report-CPU-secret.txt"] == names
    assert asked.original.files[0].content.startswith(b"\x89PNG")
    told = [e.text for e in stage.discord.transcript.entries if "in #submissions" in e.text]
    assert [
        "bot in #submissions: ada-2 on **ranks** (CPU): first score 2.00 s, place 1 of 1 🥇",
        "bot in #submissions: ada-2 on **ranks** (CPU): personal best 1.00 s, place 1 of 1 🥇",
        "bot in #submissions: bob-2 on **ranks** (CPU): first score 1.25 s, place 2 of 2 🥈",
    ] == told


async def test_of_a_closed_board_nobody_else_is_told(stage: Stage) -> None:
    await stage.world.board("closed")
    await stage.world.services.boards.edit(
        stage.world.admin.user, "closed", BoardEdit(visibility=Visibility.CLOSED)
    )
    olga = stage.person("olga", ADMIN)
    asked = await submitted(stage, olga, "ranked", script("accepted 1"), leaderboard_name="closed")
    await ended(stage, asked)
    await olga.runs("ping")
    assert "in #" not in stage.discord.transcript.text


async def test_nor_is_it_when_the_answers_time_is_over(stage: Stage, tmp_path: Path) -> None:
    may_end = tmp_path / "may-end"
    await stage.world.board("secluded")
    await stage.world.services.boards.edit(
        stage.world.admin.user, "secluded", BoardEdit(visibility=Visibility.CLOSED)
    )
    rita = stage.person("rita", ADMIN)
    asked = await submitted(
        stage, rita, "ranked", script(f"until {may_end} accepted 1"), leaderboard_name="secluded"
    )
    await stage.discord.until(lambda: "running" in (asked.original or FakeMessage).content)
    asked.expired = True
    may_end.touch()
    await said(stage, "Its author sees with `/submission show id:")
    await stage.nothing_open()
    told = [e.text for e in stage.discord.transcript.entries if "in #submissions" in e.text]
    assert not any("secluded" in text or "rita" in text for text in told)


async def test_what_is_suspicious_is_held(stage: Stage) -> None:
    await stage.world.board("held")
    ada = stage.person("ada")
    file = script("accepted 1.0 0.9 1.1 suspicious")
    message = await ended(
        stage, await submitted(stage, ada, "ranked", file, leaderboard_name="held")
    )
    assert "⏸️ It is held until an organiser has looked at it." in message.content


async def test_the_header_names_board_and_device(stage: Stage) -> None:
    await stage.world.board("header", devices=("CPU", "H100"))
    ada = stage.person("ada")
    header = ("#!POPCORN leaderboard header", "#!POPCORN gpu CPU")
    asked = await submitted(stage, ada, "test", script("accepted", "x.py", *header))
    assert "**header**, test: `x.py`" in (await ended(stage, asked)).content
    elsewhere = await submitted(
        stage, ada, "test", script("accepted", "x.py", *header), leaderboard_name="sort"
    )
    await said(stage, "❌ The file is for board 'header' and was submitted to 'sort'")
    assert elsewhere.original is not None


async def test_the_last_board_and_device_are_remembered(stage: Stage) -> None:
    await stage.world.board("remembered", devices=("CPU", "H100"))
    eva = stage.person("eva")
    unknown = await submitted(stage, eva, "test", script("accepted"))
    await said(stage, "❌ No board is named.")
    assert unknown.original is not None
    first = script("accepted")
    await ended(
        stage,
        await submitted(stage, eva, "test", first, leaderboard_name="remembered", gpu="cpu"),
    )
    again = await ended(stage, await submitted(stage, eva, "test", script("accepted")))
    assert "**remembered**, test" in again.content


async def test_code_is_pasted(stage: Stage) -> None:
    await stage.world.board("pasted")
    ada = stage.person("ada")
    form = await ada.runs("leaderboard submit test", leaderboard_name="pasted")
    sent = await ada.fills_in(form, "# fake: accepted\n")
    await ended(stage, sent)
    assert (
        seen(stage, ada)
        == """ada: /leaderboard submit test leaderboard_name:pasted
bot shows the form 'Paste your code'
ada sends the form
bot edits (only ada): **pasted**, test: `submission.py`, submission N
✓ CPU public: accepted
[file report-CPU-public.txt]"""
    )


@pytest.mark.parametrize(
    ("file", "refusal", "fetched"),
    [
        (Upload("all.zip", b"PK"), "A zip can't be submitted", False),
        (Upload("all.py", b"PK\x03\x04abc"), "A zip can't be submitted", True),
        (Upload("cat.png", b"x", "image/png"), "'cat.png' isn't a source file", False),
        (Upload("big.py", b"", claimed_bytes=100 << 20), "larger than 1 MiB", False),
        (Upload("none.py", b""), "The file is empty", True),
        (Upload("../`x`.py", b"# fake: accepted"), "no slashes", True),
        (Upload("latin.py", b"\xe9"), "isn't UTF-8 text", True),
        (Upload("nul.py", b"x\x00"), "NUL character", True),
        (Upload("x" * 300 + ".py", b"x = 1"), "file's name must end in", True),
    ],
)
async def test_bad_files_are_refused(
    stage: Stage, file: Upload, refusal: str, fetched: bool
) -> None:
    ada = stage.person("ada")
    asked = await submitted(stage, ada, "test", file, leaderboard_name="sort")
    await said(stage, refusal)
    assert asked.original is not None
    assert asked.original.content.startswith("❌ ")
    assert fetched == bool(stage.discord.downloads[file.id])


async def test_submissions_are_accepted_in_their_channel_only(stage: Stage) -> None:
    asked = await stage.person("ada").runs(
        "leaderboard submit test", channel="general", script=script("accepted")
    )
    assert asked.original is not None
    assert "❌ Submissions are accepted in #submissions only." == asked.original.content


async def test_a_board_deleted_after_it_was_suggested(stage: Stage) -> None:
    ada = stage.person("ada")
    await stage.world.board("short-lived")
    assert ["short-lived"] == await ada.completes(
        "leaderboard submit test", "leaderboard_name", "short"
    )
    await stage.world.services.deletion.delete_board(stage.world.admin.user, "short-lived")
    await submitted(stage, ada, "test", script("accepted"), leaderboard_name="short-lived")
    await said(stage, "❌ There is no board named 'short-lived'.")


async def test_someone_banned_meanwhile(stage: Stage) -> None:
    await stage.world.board("banning", devices=("CPU", "H100"))
    guy = stage.person("guy")
    asked = await submitted(stage, guy, "test", script("accepted"), leaderboard_name="banning")
    account = await stage.acting(guy)
    await stage.world.services.users.ban(stage.world.admin.user, account.id)
    assert asked.original is not None
    await guy.chooses(asked.original, "Choose a GPU", "CPU")
    await said(stage, "❌ This account is banned from submitting.")
    await stage.world.services.users.unban(stage.world.admin.user, account.id)
    await guy.chooses(asked.original, "Choose a GPU", "CPU")
    await stage.discord.until(lambda: "accepted" in (asked.original or FakeMessage).content)


async def test_after_its_time_it_goes_on_in_the_channel(stage: Stage, tmp_path: Path) -> None:
    may_end = tmp_path / "may-end"
    await stage.world.board("long")
    ada = stage.person("ada")
    asked = await submitted(
        stage, ada, "test", script(f"until {may_end} wrong_answer"), leaderboard_name="long"
    )
    await stage.discord.until(lambda: "running" in (asked.original or FakeMessage).content)
    asked.expired = True
    may_end.touch()
    await said(stage, "✗ CPU public: wrong answer\nDetails: ")  # an edit may come before the end
    last = [e for e in stage.discord.transcript.entries if "in #submissions" in e.text][-1]
    assert last.only_for is None
    assert numbered(last.text).split("in #submissions: ")[1] == (
        "ada-2: **long**, test: `fast.py`, submission N\n"
        "✗ CPU public: wrong answer\nDetails: `/leaderboard get-submission id:"
        + last.text.rsplit(":", 1)[1]
    )


async def test_a_deleted_submission_is_told_as_such(stage: Stage) -> None:
    await stage.world.board("deleted")
    ada = stage.person("ada")
    file = script("sleep 20 accepted")
    asked = await submitted(stage, ada, "test", file, leaderboard_name="deleted")
    await stage.discord.until(lambda: "running" in (asked.original or FakeMessage).content)
    author = await stage.acting(ada)
    (newest,) = await stage.world.services.submission_lists.own(author, limit=1)
    await stage.world.services.submissions.cancel(author, newest.id)
    await said(stage, "It was cancelled.")


@pytest.mark.exhaustive  # each run has test_a_long_failure_is_shown_as_far_as_it_fits
async def test_discord_away_for_a_moment(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelbot.bot.following._RETRY_S", 0.01)
    await stage.world.board("shaky")
    ada = stage.person("ada")
    file = script("sleep 0.3 accepted")
    asked = await submitted(stage, ada, "test", file, leaderboard_name="shaky")
    await stage.discord.until(lambda: "submission" in (asked.original or FakeMessage).content)
    stage.discord.trouble("/webhooks/", 503)
    assert "accepted" in (await ended(stage, asked)).content


@asynccontextmanager
async def refused(stage: Stage, path_part: str, folder: Path, mode: str) -> AsyncIterator[None]:
    """A submission of which Discord takes nothing at such a path from its beginning on."""
    ada, file = stage.person("ada"), script(f"until {folder / 'goes-on'} accepted 2.0 1.9 2.1")
    asked = await submitted(stage, ada, mode, file, leaderboard_name=folder.name)
    await stage.discord.until(lambda: "running" in (asked.original or FakeMessage).content)
    stage.discord.trouble(path_part, 400, times=1_000_000)
    (folder / "goes-on").touch()
    try:
        yield
    finally:
        stage.discord.troubles.clear()


async def test_what_discord_refuses_as_an_answer_is_said_in_the_channel(
    stage: Stage, tmp_path: Path
) -> None:
    await stage.world.board(tmp_path.name)
    async with refused(stage, "/webhooks/", tmp_path, "test"):
        await said(stage, "✓ CPU public: accepted")


async def test_what_discord_refuses_everywhere_is_told_no_more(
    stage: Stage, tmp_path: Path
) -> None:
    await stage.world.board(tmp_path.name)

    async def is_over() -> bool:
        return [] == await stage.world.services.chat.open_answers([stage.guild.id])

    async with refused(stage, "/messages", tmp_path, "ranked"):
        await until_told(is_over)
    assert "first score" not in stage.told


async def test_a_processor_is_suggested_and_taken_for_a_test_alone(stage: Stage) -> None:
    await stage.world.board("tried", devices=("H100",))
    ada = stage.person("ada")
    commands = ("leaderboard submit test", "leaderboard submit ranked")
    options = {"leaderboard_name": "tried"}
    before = await ada.completes(commands[0], "gpu", "", **options)
    edit = BoardEdit(try_on_cpu=True)
    await stage.world.services.boards.edit(stage.world.admin.user, "tried", edit)
    after = [await ada.completes(command, "gpu", "", **options) for command in commands]
    assert (["H100"], [["H100", "CPU"], ["H100"]]) == (before, after)
    await submitted(stage, ada, "ranked", script("accepted"), gpu="CPU", **options)
    await said(stage, "takes tests alone")


async def test_a_bot_that_starts_again_goes_on(postgres: TestServer, tmp_path: Path) -> None:
    settings = quick_settings(tmp_path)
    with postgres.database() as url:
        async with open_stage(url) as stage:
            await stage.world.board("sort")
            ada = stage.person("ada")
            async with stage.running():
                asked = await submitted(
                    stage, ada, "test", script("accepted"), leaderboard_name="sort"
                )
                late = await submitted(
                    stage, ada, "test", script("wrong_answer"), leaderboard_name="sort"
                )
                await said(stage, "Position 2")
            late.expired = True
            async with working(settings, url), stage.running():
                assert "accepted" in (await ended(stage, asked)).content
                await said(stage, "✗ CPU public: wrong answer")
                await stage.nothing_open()
            before = stage.discord.transcript.text
            async with stage.running():
                await ada.runs("ping")
            assert 2 == len(stage.discord.transcript.text[len(before) :].strip().splitlines())
