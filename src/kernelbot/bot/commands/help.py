"""What a person may do here, by their role."""

from kernelbot.accounts.model import Role, User

_EVERYONE = """\
**How to take part**
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
_CREATORS = """\
`/leaderboard create`, `delete`, `/admin create-local`, `held`, `show-stats` are for your boards."""
_ADMINS = """\
`/admin start`, `stop`, `update-problems`, `ban`, `unban`, `delete-submission`, `get-submission`,
`get-user-names`, `update-user-names`, `set-forum-ids`, `settings`, `export-hf`, `/resync`,
`/verifyruns` and `/verify-task`."""


def help_text(viewer: User) -> str:
    """For whoever asks."""
    parts = [_EVERYONE]
    if viewer.role is not Role.COMPETITOR:
        parts.append(f"You act as {viewer.role} here.\n{_CREATORS}")
    if viewer.role is Role.ADMIN:
        parts.append(_ADMINS)
    return "\n".join(parts)
