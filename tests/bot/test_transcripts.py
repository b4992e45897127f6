"""What a person types and sees, command by command, from the first line to the last.

Other commands have theirs beside their further tests; the last test here finds those that have
none.
"""

import re
from pathlib import Path

import pytest

from kernelbot.protocol import Mode
from tests.bot.stage import ADMIN, CREATOR, Stage
from tests.bot.transcripts import leaf_commands, seen
from tests.fakes.discord import Interaction, Person, Upload
from tests.support.problem_sets import commit_all, write_competition, write_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")


def olga(stage: Stage) -> Person:
    return stage.person("olga", ADMIN)


async def answered(stage: Stage, interaction: Interaction, text: str) -> None:
    """Wait until the first answer says so."""
    await stage.discord.until(lambda: interaction.original and text in interaction.original.content)


async def made(stage: Stage, board: str, *, count: int = 1) -> list[int]:
    """A board with ada's submissions; returns their numbers."""
    await stage.world.board(board)
    author = await stage.acting(stage.person("ada"))
    found = []
    for number in range(count):
        content = f"x = {number}\n".encode()
        one = await stage.world.submit(author, board=board, mode=Mode.TEST, content=content)
        found.append(one.id)
    await stage.has_thread(board)
    stage.discord.transcript.clear()
    return found


async def test_about_the_platform(stage: Stage) -> None:
    ada = stage.person("ada")
    await ada.runs("ping")
    await ada.runs("verifydb")
    await ada.runs("help")
    await ada.runs("leaderboard help")
    assert (
        seen(stage, ada)
        == """ada: /ping
bot (only ada): Pong: Discord answers in N ms.
ada: /verifydb
bot (only ada): ✅ database: answers
✅ schema: current
⚠️ queue: no worker takes jobs
⚠️ device CPU: no worker serves it just now
⚠️ device H100: no worker serves it just now
Asked in N ms.
ada: /help
bot (only ada): **How to take part**
1. `/leaderboard list` shows what is open, `/leaderboard task` what is to be solved.
2. `/leaderboard template` gives you a file to begin with.
3. `/leaderboard submit test` says whether it is correct, `submit benchmark` how fast it is.
4. `/leaderboard submit ranked` puts it into the ranking, which `/leaderboard show` shows.
5. `/leaderboard show-personal` lists what you sent, `/leaderboard get-submission` shows one.
`/submission show`, `cancel` and `diff` are about your own; `/leaderboard watch` tells you when
somebody passes you.
`/run` and *Run this* in a message's menu run a script by itself, and so does a mention of the bot
with one.

ada: /leaderboard help
bot (only ada): **How to take part**
1. `/leaderboard list` shows what is open, `/leaderboard task` what is to be solved.
2. `/leaderboard template` gives you a file to begin with.
3. `/leaderboard submit test` says whether it is correct, `submit benchmark` how fast it is.
4. `/leaderboard submit ranked` puts it into the ranking, which `/leaderboard show` shows.
5. `/leaderboard show-personal` lists what you sent, `/leaderboard get-submission` shows one.
`/submission show`, `cancel` and `diff` are about your own; `/leaderboard watch` tells you when
somebody passes you.
`/run` and *Run this* in a message's menu run a script by itself, and so does a mention of the bot
with one.
"""
    )


async def test_resync(stage: Stage) -> None:
    await stage.person("eve").runs("resync")
    await olga(stage).runs("resync")
    assert (
        stage.conversation
        == """eve: /resync
bot (only eve): ❌ Only an admin may do this.
Ask an admin.
olga: /resync
bot (only olga): Registered again: 11 commands. Reload Discord."""
    )


async def test_reading_a_board(stage: Stage) -> None:
    await made(stage, "reading")
    ada = stage.person("ada")
    await ada.runs("leaderboard task", name="reading")
    await ada.runs("leaderboard template", name="reading", lang="Python")
    await ada.runs("leaderboard show-personal", name="reading")
    await ada.runs("leaderboard watch", name="reading")
    await ada.runs("leaderboard watch", name="reading")
    assert (
        seen(stage, ada)
        == """ada: /leaderboard task name:reading
bot (only ada): **reading**: no deadline
Talk about it in <#N>.
```
Sort it.
```
[file reference.py]
ada: /leaderboard template name:reading lang:Python
bot (only ada): Change it, then attach it to `/leaderboard submit`.
[file reading.py]
ada: /leaderboard show-personal name:reading
bot (only ada): Your submissions on **reading**
```
submission  mode  result  score  place  file
        #N  test  queued                fast.py
```
ada: /leaderboard watch name:reading
bot (only ada): You get a direct message when somebody passes you on **reading**.
ada: /leaderboard watch name:reading
bot (only ada): No more messages on **reading**."""
    )


async def test_ones_own_submissions(stage: Stage) -> None:
    first, second = await made(stage, "own-ones", count=2)
    ada = stage.person("ada")
    await ada.runs("leaderboard get-submission", id=first)
    await ada.runs("submission show", id=first)
    await ada.runs("submission diff", before=first, after=second)
    await ada.runs("submission cancel", id=first)
    await ada.runs("submission cancel", id=first)
    assert (
        seen(stage, ada)
        == """ada: /leaderboard get-submission id:N
bot (only ada): Submission N to **own-ones**: queued (test)
`fast.py` by ada-2, <t:N:f>
```
device  run     result
CPU     public  queued
```
[file fast.py]
ada: /submission show id:N
bot (only ada): Submission N to **own-ones**: queued (test)
`fast.py` by ada-2, <t:N:f>
```
device  run     result
CPU     public  queued
```
[file fast.py]
ada: /submission diff before:N after:N
bot (only ada): From submission N to N:
[file N.diff]
ada: /submission cancel id:N
bot (only ada): Submission N is cancelled.
ada: /submission cancel id:N
bot (only ada): Submission N is cancelled."""
    )


async def test_deleting_a_board_of_ones_own(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    await carl.runs("admin create-local", directory="identity_np")
    asked = await carl.runs("leaderboard delete", name="identity_np-dev")
    assert asked.original is not None
    await carl.clicks(asked.original, "Delete it")
    assert (
        seen(stage, carl)
        == """carl: /admin create-local directory:identity_np
bot (only carl): **identity\\_np-dev** is open: until <t:N:f> (<t:N:R>).
carl: /leaderboard delete name:identity_np-dev
bot (only carl): Delete **identity\\_np-dev**, with 0 submissions? This can't be undone.
[Delete it]
[Keep everything]
carl clicks Delete it
bot edits (only carl): 🗑️ **identity\\_np-dev** is deleted, with 0 submissions."""
    )


async def test_a_pause(stage: Stage) -> None:
    person = olga(stage)
    await person.runs("admin stop", reason="a new GPU")
    await person.runs("admin start")
    assert (
        seen(stage, person)
        == """olga: /admin stop reason:a new GPU
bot (only olga): ⏸️ Submissions are paused. `/admin start` ends it.
olga: /admin start
bot (only olga): ▶️ Submissions are accepted again."""
    )


async def test_submissions_of_others(stage: Stage) -> None:
    (number,) = await made(stage, "others")
    person = olga(stage)
    await person.runs("admin get-submission", id=number)
    asked = await person.runs("admin delete-submission", id=number)
    assert asked.original is not None
    await person.clicks(asked.original, "Delete it")
    await person.runs("admin held")
    assert (
        seen(stage, person)
        == """olga: /admin get-submission id:N
bot (only olga): Submission N to **others**: queued (test)
`fast.py` by ada-2, <t:N:f>
```
device  run     result
CPU     public  queued
```
[file fast.py]
olga: /admin delete-submission id:N
bot (only olga): Delete submission N by ada-2 to **others**? This can't be undone.
[Delete it]
[Keep everything]
olga clicks Delete it
bot edits (only olga): 🗑️ Submission N is deleted.
olga: /admin held
bot (only olga): Nothing is held for your decision."""
    )


async def test_people(stage: Stage) -> None:
    person = olga(stage)
    await stage.acting(stage.person("ada"))  # whose account is called ada-2, as there is an ada
    await person.runs("admin ban", name="bob", reason="spam")
    await person.runs("admin unban", name="bob")
    await person.runs("admin get-user-names")
    await person.runs("admin update-user-names")
    await person.runs("admin update-user-names", names=Upload("n.json", b'{"999": "x"}'))
    assert (
        seen(stage, person)
        == """olga: /admin ban name:bob reason:spam
bot (only olga): ⛔ bob is banned.
olga: /admin unban name:bob
bot (only olga): ✅ bob is no longer banned.
olga: /admin get-user-names
bot (only olga): N accounts.
[file user-names.json]
olga: /admin update-user-names
bot (only olga): Renamed: N accounts.
N: There is already a user named 'ada'.
olga: /admin update-user-names names:n.json
bot (only olga): Renamed: N accounts.
N: There is no user 999."""
    )


async def test_a_sync(stage: Stage, tmp_path: Path) -> None:
    write_problem(tmp_path, "synced")
    write_competition(tmp_path, "synced")
    commit_all(tmp_path)
    person = olga(stage)
    asked = await person.runs("admin update-problems", repository=f"file://{tmp_path}")
    assert asked.original is not None
    await person.clicks(asked.original, "Apply 1")
    await answered(stage, asked, "Done")
    told = re.sub(r"file:\S+", "file:PATH", seen(stage, person))
    told = re.sub(r"at [0-9a-f]{12}", "at COMMIT", told)
    assert (
        told
        == """olga: /admin update-problems repository:file:PATH
bot (only olga): Plan: file:PATH at COMMIT
```
+ create: synced (on CPU)
```
[file plan.json]
[Apply 1]
[Keep everything]
olga clicks Apply 1
bot edits (only olga): Done: file:PATH at COMMIT
```
+ create: synced (on CPU)
```"""
    )


async def test_statistics_and_exports(stage: Stage) -> None:
    await made(stage, "stats")
    person = olga(stage)
    await person.runs("admin show-stats", leaderboard="stats")
    await person.runs("admin export-hf")
    assert (
        seen(stage, person)
        == """olga: /admin show-stats leaderboard:stats
bot (only olga): **stats**: 1 submission by 1 author
```
device  runs  passed  failed  errors  waiting  wait  run
CPU        1       0       0       0        1
```
[file statistics.png]
olga: /admin export-hf
bot (only olga): ❌ No dataset is configured.
Set HF\\_TOKEN, and \\`repository\\` under \\[export\\]."""
    )


async def test_a_forum(stage: Stage) -> None:
    person = olga(stage)
    asked = await person.runs("admin set-forum-ids")
    await answered(stage, asked, "is the forum")
    told = re.sub(r"<#\d+>", "<#central>", seen(stage, person))
    assert (
        re.sub(r"\d+ boards? with", "N boards with", told)
        == """olga: /admin set-forum-ids
bot (only olga): <#N> is the forum: N boards with a thread."""
    )


async def test_every_command_has_a_transcript(stage: Stage) -> None:
    texts = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    told = set(re.findall(r"^[a-z]+: /([a-z -]+?)(?= [a-z_]+:|$)", texts, re.MULTILINE))
    told |= set(re.findall(r"""uses '([^']+)' on a message""", texts))
    told |= set(re.findall(r'''"""[a-z]+: /([a-z -]+?)(?= [a-z_]+:|$)''', texts, re.MULTILINE))
    assert set() == leaf_commands(stage.guild) - told
