import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.protocol import Lang, Mode
from tests.bot.stage import ADMIN, Stage
from tests.support.problems import CORRECT, sort_problem
from tests.support.ranked import judged_on, ranked

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_ping(stage: Stage) -> None:
    ada = stage.person("ada")
    asked = await ada.runs("ping")
    assert asked.original is not None
    assert asked.original.content.startswith("Pong: Discord answers in ")
    assert asked.original.only_for == ada.user.id


async def test_the_database_is_asked(stage: Stage) -> None:
    asked = await stage.person("ada").runs("verifydb")
    assert asked.original is not None
    lines = asked.original.content.splitlines()
    assert ["✅ database: answers", "✅ schema: current"] == lines[:2]
    assert "⚠️ queue: no worker takes jobs" in lines


async def test_active_boards_are_listed_in_pages_of_five(stage: Stage) -> None:
    ada = stage.person("ada")
    for number in range(6):
        await stage.world.board(f"list_{number}")
    await stage.world.board("list_over")
    await stage.world.services.boards.edit(
        stage.world.admin.user,
        "list_over",
        BoardEdit(deadline=datetime.now(UTC) - timedelta(days=1)),
    )
    asked = await ada.runs("leaderboard list")
    assert asked.original is not None
    await ada.clicks(asked.original, "Next")
    assert asked.original.edits == 1
    assert (
        stage.conversation
        == r"""ada: /leaderboard list
bot (only ada): Active leaderboards (1 of 2)
**list\_5**: no deadline, on CPU
**list\_4**: no deadline, on CPU
**list\_3**: no deadline, on CPU
**list\_2**: no deadline, on CPU
**list\_1**: no deadline, on CPU
[Previous (off)]
[Next]
ada clicks Next
bot edits (only ada): Active leaderboards (2 of 2)
**list\_0**: no deadline, on CPU
[Previous]
[Next (off)]"""
    )


async def test_a_ranking_has_a_menu_of_devices(stage: Stage) -> None:
    ada = stage.person("ada")
    await stage.world.board("two-devices", devices=("CPU", "H100"))
    asked = await ada.runs("leaderboard show", name="TWO-devices")
    assert asked.original is not None
    await ada.chooses(asked.original, "Choose a GPU", "H100")
    assert (
        stage.conversation
        == """ada: /leaderboard show name:TWO-devices
bot (only ada): **two-devices** on CPU: 0 ranked
```
Nobody is ranked here yet.
```
[Choose a GPU: CPU | H100]
ada chooses H100
bot edits (only ada): **two-devices** on H100: 0 ranked
```
Nobody is ranked here yet.
```
[Choose a GPU: CPU | H100]"""
    )


async def test_a_ranking_comes_with_a_file(stage: Stage) -> None:
    ada = stage.person("ada")
    await stage.world.board("with-file")
    formula = (await stage.world.services.users.create("=1+1")).user
    await ranked(stage.world, 1e-3, author=formula, board="with-file")
    asked = await ada.runs("leaderboard show", name="with-file")
    assert asked.original is not None
    (file,) = asked.original.files
    assert ("with-file-CPU.csv", True) == (file.name, b"\n1,'=1+1,0.001," in file.content)


async def test_a_menu_of_a_board_that_is_gone(stage: Stage) -> None:
    ada = stage.person("ada")
    board = await stage.world.board("goes-away", devices=("CPU", "H100"))
    asked = await ada.runs("leaderboard show", name="goes-away")
    await stage.world.services.deletion.delete_board(stage.world.admin.user, board.name)
    assert asked.original is not None
    clicked = await ada.chooses(asked.original, "Choose a GPU", "H100")
    assert clicked.messages[0].content == (
        "❌ There is no board named 'goes-away'.\nSee: `/leaderboard list`"
    )


@pytest.mark.parametrize(
    "custom_id",
    ["", "x", "boards|", "boards|-1", "ranking|sort|9|9|9|9", "ranking", "own|" + "9" * 80],
)
async def test_a_forged_button_breaks_nothing(stage: Stage, custom_id: str) -> None:
    ada = stage.person("ada")
    asked = await ada.runs("leaderboard list")
    assert asked.original is not None
    await ada.presses(asked.original, custom_id)
    assert (await ada.runs("ping")).original is not None


async def test_own_submissions(stage: Stage) -> None:
    ada = stage.person("ada")
    await stage.world.board("own")
    none = await ada.runs("leaderboard show-personal", name="own")
    assert none.original is not None
    assert none.original.content == "You have no submissions on **own** yet."
    author = await stage.acting(ada)
    made = await stage.world.submit(
        author, board="own", mode=Mode.TEST, file_name="a'; echo `x`.py"
    )
    some = await ada.runs("leaderboard show-personal", name="own")
    assert some.original is not None
    row = some.original.content.splitlines()[3]
    assert row.split() == [f"#{made.id}", "test", "queued", "a';", "echo", "`x`.py"]


async def test_own_submissions_of_one_device_in_pages(stage: Stage) -> None:
    fay = stage.person("fay")
    await stage.world.board("own-two", devices=("CPU", "H100"))
    author = await stage.acting(fay)
    for device in ("H100", *["CPU"] * 11):
        await stage.world.submit(author, board="own-two", mode=Mode.TEST, devices=(device,))
    asked = await fay.runs("leaderboard show-personal", name="own-two")
    message = asked.original
    assert message is not None

    def rows() -> int:
        return message.content.count("#")

    assert ("[Choose a GPU: All GPUs | CPU | H100]" in stage.told, 10) == (True, rows())
    await fay.clicks(message, "Next")
    assert 2 == rows()
    await fay.chooses(message, "Choose a GPU", "CPU")
    await fay.clicks(message, "Next")
    assert ("Your submissions on **own-two** on CPU", 1) == (message.content.split("\n")[0], rows())
    await fay.chooses(message, "Choose a GPU", "H100")
    assert 1 == rows()
    await fay.chooses(message, "Choose a GPU", "All GPUs")
    assert 10 == rows()


async def test_own_submissions_of_one_device_have_its_scores_and_places(stage: Stage) -> None:
    """Whoever is third on one device and first on another is told each where it belongs."""
    gus = stage.person("gus")
    world, author = stage.world, await stage.acting(gus)
    await world.board("both", devices=("CPU", "H100"))
    both = await world.submit(author, board="both", devices=("CPU", "H100"))
    await judged_on(world, both.id, {"CPU": 2e-3, "H100": 5e-3})
    await ranked(world, 1e-3, board="both", author=world.bob.user)
    await ranked(world, 9e-3, board="both", author=author, device="H100")
    asked = await gus.runs("leaderboard show-personal", name="both")
    message = asked.original
    assert message is not None

    def results() -> list[list[str]]:
        return [line.split()[2:-1] for line in message.content.splitlines() if "#" in line]

    slow = ["accepted", "9.00", "ms"]
    assert [slow, ["accepted", "2.00", "ms", "2"]] == results()
    await gus.chooses(message, "Choose a GPU", "H100")
    assert [slow, ["accepted", "5.00", "ms", "1"]] == results()
    await gus.chooses(message, "Choose a GPU", "CPU")
    assert [["accepted", "2.00", "ms", "2"]] == results()


async def test_a_submission_with_its_code(stage: Stage) -> None:
    ada, bob = stage.person("ada"), stage.person("bob")
    await stage.world.board("code")
    author = await stage.acting(ada)
    made = await stage.world.submit(author, board="code", mode=Mode.TEST)
    asked = await ada.runs("leaderboard get-submission", id=made.id)
    assert asked.original is not None
    assert [("fast.py", CORRECT)] == [(f.name, f.content) for f in asked.original.files]
    assert asked.original.only_for == ada.user.id
    stranger = await bob.runs("leaderboard get-submission", id=made.id)
    assert stranger.original is not None
    assert f"❌ Submission {made.id} is someone else's." == stranger.original.content


async def test_the_task_has_its_reference_files(stage: Stage) -> None:
    board, ada = await stage.world.board("task"), stage.person("ada")
    announcements = stage.world.services.announcements
    async with asyncio.timeout(60):
        while True:
            known = {
                one.board_id: one.thread_id for one in await announcements.threads(stage.guild.id)
            }
            if (thread_id := known[board.id]) is not None:
                break
            await asyncio.sleep(0.02)
    asked = await ada.runs("leaderboard task", name="task")
    assert asked.original is not None
    assert asked.original.content == (
        f"**task**: no deadline\nTalk about it in <#{thread_id}>.\n```\nSort it.\n```"
    )
    assert ["reference.py"] == [file.name for file in asked.original.files]


async def test_a_long_statement_is_shown_as_far_as_it_fits_and_attached(stage: Stage) -> None:
    problem = replace(sort_problem("wordy"), description="Sort it. " * 500)
    await stage.world.services.boards.create(
        stage.world.admin.user, problem, name="wordy", devices=("CPU",)
    )
    await stage.discord.until(lambda: "in thread wordy" in stage.told)
    thread = stage.guild.channel("wordy").messages[0]
    asked = await stage.person("ada").runs("leaderboard task", name="wordy")
    assert asked.original is not None
    for message in (thread, asked.original):
        assert 1940 <= len(message.content) <= 2000
        assert ("statement.md", 4500) == (message.files[0].name, len(message.files[0].content))
    assert "Start with `/leaderboard template name:wordy`." == thread.content.splitlines()[-1]


async def test_a_starter_file_says_where_it_belongs(stage: Stage) -> None:
    await stage.world.services.boards.create(
        stage.world.admin.user,
        sort_problem("starter"),
        name="starter",
        devices=("CPU",),
        deadline=datetime(2100, 1, 2, 3, 4, tzinfo=UTC),
    )
    asked = await stage.person("ada").runs("leaderboard template", name="starter", lang="python")
    assert asked.original is not None
    (file,) = asked.original.files
    assert file.content.decode() == (
        "#!POPCORN leaderboard starter\n#!POPCORN gpu CPU\n\n# Sort it.\n#\n"
        f"# Deadline: 2100-01-02 03:04 UTC\n\n{CORRECT.decode()}"
    )
    none = await stage.person("ada").runs("leaderboard template", name="starter", lang="cuda")
    assert none.original is not None
    assert none.original.content == ("❌ starter has no starter file in 'cuda'.\nThere is: Python.")


async def test_a_starter_file_is_one_of_its_language(stage: Stage) -> None:
    sort = sort_problem("compiled")
    compiled = replace(sort, spec=replace(sort.spec, lang=Lang.CPP), templates={"C++": "int x;"})
    await stage.world.services.boards.create(
        stage.world.admin.user, compiled, name="compiled", devices=("CPU",)
    )
    asked = await stage.person("ada").runs("leaderboard template", name="compiled", lang="c++")
    assert asked.original is not None
    (file,) = asked.original.files
    assert ("compiled.cpp", b"//!POPCORN leaderboard compiled") == (
        file.name,
        file.content.splitlines()[0],
    )


async def test_suggestions_are_boards_that_contain_what_was_typed(stage: Stage) -> None:
    ada = stage.person("ada")
    await stage.world.board("mat-mul")
    await stage.world.board("big-mat")
    assert ["mat-mul", "big-mat"] == await ada.completes("leaderboard show", "name", "MAT")
    assert [] == await ada.completes("leaderboard show", "name", "a'; echo x" * 30)
    found = await ada.completes("leaderboard template", "lang", "", name="mat-mul")
    assert ["Python"] == found


async def test_nothing_is_suggested_to_those_who_may_not_use_it(stage: Stage) -> None:
    ada, admin = stage.person("ada"), stage.person("root", ADMIN)
    found = [await person.completes("admin settings", "competition", "") for person in (ada, admin)]
    assert ([], True) == (found[0], "all" in found[1])
    assert [] == await ada.completes("admin create-local", "directory", "")


async def test_only_active_boards_are_suggested_for_starter_files(stage: Stage) -> None:
    await stage.world.board("past")
    await stage.world.services.boards.edit(
        stage.world.admin.user, "past", BoardEdit(deadline=datetime.now(UTC) - timedelta(days=1))
    )
    ada = stage.person("ada")
    assert ["past"] == await ada.completes("leaderboard show", "name", "past")
    assert [] == await ada.completes("leaderboard template", "name", "past")


@pytest.mark.exhaustive  # each run has test_a_menu_of_a_board_that_is_gone
async def test_long_and_hostile_texts_keep_within_discords_limits(stage: Stage) -> None:
    ada, world = stage.person("ada"), stage.world
    definition = sort_problem("x")
    await world.services.boards.create(
        world.admin.user,
        replace(definition, description="```@everyone <@1> " * 1000),
        name="n" * 64,
        devices=("CPU", "H100"),
    )
    for number in range(30):
        await world.board(f"many-{number}")
    assert 25 == len(await ada.completes("leaderboard show", "name", "many"))
    author = await stage.acting(ada)
    for _ in range(12):
        await world.submit(
            author,
            board="n" * 64,
            mode=Mode.TEST,
            file_name="`" * 200 + ".py",
            devices=("CPU", "H100"),
        )
    for command in ("show", "task", "show-personal"):
        asked = await ada.runs(f"leaderboard {command}", name="n" * 64)
        assert asked.original is not None
        assert 2 == asked.original.content.count("```")
    await ada.runs("leaderboard list")
    assert [] == stage.discord.refused


async def test_help_says_what_the_caller_may_do(stage: Stage) -> None:
    organiser = await stage.person("olga", "Leaderboard Admin").runs("leaderboard help")
    assert organiser.original is not None
    assert "You act as admin here." in organiser.original.content
    competitor = await stage.person("ada").runs("leaderboard help")
    assert competitor.original is not None
    assert "You act as" not in competitor.original.content
