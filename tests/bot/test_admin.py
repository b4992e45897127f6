"""What organisers do; who may, the services decide."""

import json

import pytest

from kernelbot.domain.states import ReviewState
from kernelbot.protocol import Mode
from tests.bot.stage import ADMIN, CREATOR, Stage
from tests.fakes.discord import FakeMessage, Interaction, Person, Upload
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


def organiser(stage: Stage) -> Person:
    return stage.person("olga", ADMIN)


def text(interaction: Interaction) -> str:
    """What answered it."""
    assert interaction.messages
    return interaction.messages[-1].content


def original(interaction: Interaction) -> FakeMessage:
    assert interaction.original is not None
    return interaction.original


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("resync", {}),
        ("leaderboard delete", {"name": "guarded"}),
        ("admin start", {}),
        ("admin stop", {"reason": "because"}),
        ("admin delete-leaderboard", {"name": "guarded"}),
        ("admin create-local", {"directory": "vectoradd"}),
        ("admin update-problems", {}),
        ("admin show-stats", {}),
        ("admin show-stats", {"leaderboard": "guarded"}),
        ("admin ban", {"name": "ada"}),
        ("admin unban", {"name": "ada"}),
        ("admin get-user-names", {}),
        ("admin export-hf", {}),
    ],
)
async def test_competitors_may_not(stage: Stage, command: str, options: dict[str, str]) -> None:
    boards = stage.world.services.boards
    if not [b for b in await boards.list_boards(None) if b.name == "guarded"]:
        await stage.world.board("guarded")
    asked = await stage.person("eve").runs(command, **options)
    assert text(asked).startswith("❌ Only "), text(asked)


async def test_competitors_may_not_rename_or_choose_a_forum(stage: Stage) -> None:
    eve, forum = stage.person("eve"), stage.guild.channel("central")
    names = Upload("names.json", b'{"1": "x"}')
    renamed = await eve.runs("admin update-user-names", names=names)
    chosen = await eve.runs("admin set-forum-ids", forum=forum)
    assert [True, True] == [text(one).startswith("❌ Only ") for one in (renamed, chosen)]
    assert 0 == stage.discord.downloads[names.id]


async def test_a_pause_and_its_end(stage: Stage) -> None:
    olga = organiser(stage)
    await olga.runs("admin stop", reason="a *new* GPU")
    await stage.world.board("paused")
    refused = await stage.person("ada").runs(
        "leaderboard submit test", script=Upload("x.py", b"x = 1"), leaderboard_name="paused"
    )
    await stage.discord.until(lambda: "paused just now" in original(refused).content)
    assert r"a \*new\* GPU" in original(refused).content
    await olga.runs("admin start")
    assert (await stage.world.services.platform.state()).accepts_jobs


async def test_a_board_is_deleted_after_a_question_once(stage: Stage) -> None:
    olga = organiser(stage)
    await stage.world.board("doomed")
    await stage.world.submit(board="doomed", mode=Mode.TEST)
    await until(lambda: "in thread doomed" in stage.discord.transcript.seen_by(olga.user.id))
    stage.discord.transcript.clear()
    asked = await olga.runs("admin delete-leaderboard", name="doomed")
    stranger = await stage.person("ada").clicks(original(asked), "Delete it")
    await olga.clicks(original(asked), "Delete it")
    assert (
        stage.discord.transcript.seen_by(olga.user.id)
        == """olga: /admin delete-leaderboard name:doomed
bot (only olga): Delete **doomed**, with 1 submission? This can't be undone.
[Delete it]
[Keep everything]
olga clicks Delete it
bot edits (only olga): 🗑️ **doomed** is deleted, with 1 submission."""
    )
    assert "❌ This button is someone else's." in text(stranger)


async def test_a_question_may_be_answered_with_no(stage: Stage) -> None:
    olga = organiser(stage)
    await stage.world.board("kept")
    asked = await olga.runs("leaderboard delete", name="kept")
    await olga.clicks(original(asked), "Keep everything")
    assert ("Nothing was changed.", []) == (original(asked).content, original(asked).parts())
    assert await stage.world.services.boards.get(None, "kept")


async def test_a_board_of_the_same_name_isnt_deleted_for_it(stage: Stage) -> None:
    olga, world = organiser(stage), stage.world
    await world.board("again")
    asked = await olga.runs("leaderboard delete", name="again")
    await world.services.deletion.delete_board(world.admin.user, "again")
    await world.board("again")
    clicked = await olga.clicks(original(asked), "Delete it")
    assert "❌ There is another board of that name by now." in text(clicked)


async def test_a_creator_deletes_their_own_boards_alone(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    made = await carl.runs("admin create-local", directory="vectoradd_py")
    assert r"**vectoradd\_py-dev** is open: until" in text(made)
    await stage.world.board("not-carls")
    other = await carl.runs("leaderboard delete", name="not-carls")
    assert "❌ Only the organisers of 'not-carls' may do this." in text(other)
    own = await carl.runs("leaderboard delete", name="vectoradd_py-dev")
    await carl.clicks(original(own), "Delete it")
    assert "is deleted" in original(own).content


async def test_a_submission_is_deleted_after_a_question(stage: Stage) -> None:
    await stage.world.board("subs")
    made = await stage.world.submit(board="subs", mode=Mode.TEST)
    olga = organiser(stage)
    shown = await olga.runs("admin get-submission", id=made.id)
    assert ["fast.py"] == [file.name for file in original(shown).files]
    asked = await olga.runs("admin delete-submission", id=made.id)
    await olga.clicks(original(asked), "Delete it")
    gone = await olga.runs("admin get-submission", id=made.id)
    assert f"❌ There is no submission {made.id}." in text(gone)


async def test_a_ban_by_member_or_name(stage: Stage) -> None:
    olga, ada, world = organiser(stage), stage.person("ada"), stage.world
    account = await stage.acting(ada)
    await olga.runs("admin ban", member=ada.user, reason="spam")
    assert (await world.services.users.find(world.admin.user, account.name)).banned_at
    await olga.runs("admin unban", name=account.name)
    assert not (await world.services.users.find(world.admin.user, account.name)).banned_at
    neither = await olga.runs("admin ban")
    unknown = await olga.runs("admin ban", name="a'; echo x")
    themselves = await olga.runs("admin ban", member=olga.user)
    assert "Name someone" in text(neither)
    assert "There is no user" in text(unknown)
    assert "You can't change your own account." in text(themselves)


async def test_held_submissions_are_released_or_refused_with_a_reason(stage: Stage) -> None:
    olga, world = organiser(stage), stage.world
    await world.board("review")
    for _ in range(2):
        made = await world.submit(board="review", content=b"x = 1\n", file_name="`x`.py")
        async with world.database.write() as session:
            await session.do(
                "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now()"
                " WHERE submission_id = %(id)s",
                {"id": made.id},
            )
            await session.do(
                "UPDATE submissions SET review = 'held', review_reason = 'too good'"
                " WHERE id = %(id)s",
                {"id": made.id},
            )
            await session.do(
                "INSERT INTO evidence (submission_id, source, rule, severity, detail)"
                " VALUES (%(id)s, 'score', 'ABSURD', 'high', 'see ``` here')",
                {"id": made.id},
            )
    stage.discord.transcript.clear()
    asked = await olga.runs("admin held")
    assert "Held (1 of 2)" in original(asked).content
    assert original(asked).content.count("```") == 2
    assert [b"x = 1\n"] == [file.content for file in original(asked).files]
    form = await olga.clicks(original(asked), "Release")
    sent = await olga.fills_in(form, "it is fine")
    assert "is released" in text(sent)
    stranger = await stage.person("eve").clicks(original(asked), "Refuse")
    refused = await stage.person("eve").fills_in(stranger, "I want it")
    assert "❌ Only the organisers of 'review' may do this." in text(refused)
    following = await olga.runs("admin held")
    form = await olga.clicks(original(following), "Refuse")
    await olga.fills_in(form, "a cheat")
    assert "Nothing is held" in text(await olga.runs("admin held"))
    assert (
        ReviewState.REFUSED
        is (await world.services.submissions.get(world.admin.user, made.id)).review
    )
    eve = await stage.person("eve").runs("admin held")
    assert "Nothing is held for your decision." == text(eve)


@pytest.mark.exhaustive  # each run has test_a_pause_and_its_end
async def test_statistics(stage: Stage) -> None:
    await stage.world.board("counted")
    await stage.world.submit(board="counted", mode=Mode.TEST)
    asked = await organiser(stage).runs("admin show-stats", leaderboard="counted")
    first, _, header, row, _ = text(asked).splitlines()
    assert "**counted**: 1 submission by 1 author" == first
    assert ["device", "runs", "passed", "failed", "errors", "waiting", "wait", "run"] == (
        header.split()
    )
    assert ["CPU", "1", "0", "0", "0", "1"] == row.split()


async def test_names_are_written_and_read(stage: Stage) -> None:
    olga = organiser(stage)
    asked = await olga.runs("admin get-user-names")
    (file,) = original(asked).files
    names = json.loads(file.content)
    number = next(key for key, name in names.items() if name == "bob")
    wanted = {number: "bob*", "999999": "x", **{key: "BOB*" for key in names if key != number}}
    changed = await olga.runs(
        "admin update-user-names", names=Upload("n.json", json.dumps(wanted).encode())
    )
    assert text(changed).splitlines()[0] == "Renamed: 1 account."
    assert "999999: There is no user 999999." in text(changed)
    back = await olga.runs(
        "admin update-user-names", names=Upload("n.json", json.dumps({number: "bob"}).encode())
    )
    assert text(back) == "Renamed: 1 account."


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b'{"x": "y"}', b'{"1": 2}', b"\xff", b"[" * 9999),
        pytest.param(b'{"' + b"1" * 5000 + b'": "y"}', id="a long number"),
    ],
)
async def test_what_isnt_a_file_of_names_is_refused(stage: Stage, content: bytes) -> None:
    asked = await organiser(stage).runs("admin update-user-names", names=Upload("n.json", content))
    assert "❌ The file isn't a JSON object of numbers and names." == text(asked)


async def test_another_forum_is_chosen(stage: Stage) -> None:
    olga, forum = organiser(stage), stage.guild.channel("central")
    asked = await olga.runs("admin set-forum-ids", forum=forum)
    assert text(asked).startswith(f"<#{forum.id}> is the forum: ")
    text_channel = await olga.runs("admin set-forum-ids", forum=stage.guild.channel("general"))
    assert text(text_channel).startswith("❌")


async def test_accounts_are_named_as_people_are_called_here(stage: Stage) -> None:
    olga, users, admin = organiser(stage), stage.world.services.users, stage.world.admin.user
    people = [stage.person(name) for name in ("old-name", "same", "taken")]
    first, _, third = [await stage.acting(person) for person in people]
    people[0].user.name, people[2].user.name = "new*name", "same"
    asked = await olga.runs("admin update-user-names")
    lines = text(asked).splitlines()
    assert f"{third.id}: There is already a user named 'same'." in lines
    assert "new*name" == (await users.find(admin, str(first.id))).name
    again = await olga.runs("admin update-user-names")
    assert "Renamed: 0 accounts." == text(again).splitlines()[0]
    stranger = await stage.person("eve").runs("admin update-user-names")
    assert text(stranger).startswith("❌ Only ")


async def test_boards_find_their_threads(stage: Stage) -> None:
    olga, world, guild = organiser(stage), stage.world, stage.guild
    forum = guild.channel("central")

    async def threads() -> dict[str, int | None]:
        found = await world.services.announcements.threads(guild.id)
        return {one.board: one.thread_id for one in found}

    for name in ("renamed", "archived", "lost"):
        await world.board(name)
    await stage.discord.until(
        lambda: all(f"in thread {name}:" in stage.told for name in ("renamed", "archived", "lost"))
    )
    kept = guild.channel("renamed")
    kept.name = "another name"
    guild.channel("archived").archived = True
    del guild.channels[guild.channel("lost").id]
    async with world.database.write() as session:  # as if the guild were newer than the boards
        await session.do("DELETE FROM deliveries")
        await session.do("DELETE FROM announcements")
    asked = await olga.runs("admin set-forum-ids", forum=forum)
    assert "`open_missing` opens them." in text(asked)
    found = await threads()
    assert (guild.channel("archived").id, None, None) == (
        found["archived"],
        found["renamed"],
        found["lost"],
    )
    kept.name = "renamed"
    stage.discord.transcript.clear()
    opened = await olga.runs("admin set-forum-ids", open_missing=True)
    assert "Threads are opened for: " in text(opened)
    await stage.discord.until(lambda: "in thread lost:" in stage.told)
    assert (kept.id, False) == ((await threads())["renamed"], "in thread archived:" in stage.told)


async def test_commands_are_registered_again(stage: Stage) -> None:
    stage.guild.commands = [one for one in stage.guild.commands if one["name"] == "resync"]
    asked = await organiser(stage).runs("resync")
    assert "Registered again: " in text(asked)
    assert {"ping", "leaderboard", "admin"} <= {one["name"] for one in stage.guild.commands}


async def test_a_submission_is_cancelled_shown_and_compared(stage: Stage) -> None:
    ada, world = stage.person("ada"), stage.world
    await world.board("mine")
    author = await stage.acting(ada)
    first = await world.submit(author, board="mine", mode=Mode.TEST, content=b"x = 1\n")
    second = await world.submit(author, board="mine", mode=Mode.TEST, content=b"x = ```\n")
    compared = await ada.runs("submission diff", before=first.id, after=second.id)
    (file,) = original(compared).files
    assert file.content.decode().splitlines()[2:] == ["@@ -1 +1 @@", "-x = 1", "+x = ```"]
    same = await ada.runs("submission diff", before=first.id, after=first.id)
    assert "have the same code" in text(same)
    cancelled = await ada.runs("submission cancel", id=first.id)
    assert f"Submission {first.id} is cancelled." == text(cancelled)
    shown = await ada.runs("submission show", id=first.id)
    assert "cancelled" in text(shown)
    stranger = await stage.person("eve").runs("submission cancel", id=second.id)
    assert f"❌ Submission {second.id} is someone else's." == text(stranger)
