"""What a person may do here, by their role."""

from kernelbot.domain.types import Role, User

_EVERYONE = """\
**How to take part**
1. `/leaderboard list` shows what is open, `/leaderboard task` what is to be solved.
2. `/leaderboard template` gives you a file to begin with.
3. `/leaderboard submit test` says whether it is correct, `submit benchmark` how fast it is.
4. `/leaderboard submit ranked` puts it into the ranking, which `/leaderboard show` shows.
5. `/leaderboard show-personal` lists what you sent, `/leaderboard get-submission` shows one.
"""


def help_text(viewer: User) -> str:
    """For whoever asks."""
    parts = [_EVERYONE]
    if viewer.role is not Role.COMPETITOR:
        parts.append(f"You act as {viewer.role} here.")
    return "\n".join(parts)
