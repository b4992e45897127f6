"""What was found of one part of a node."""

import subprocess
from dataclasses import dataclass

_TIMEOUT_S = 30


@dataclass(frozen=True)
class Finding:
    """`ok` None: there is nothing of the kind here. `needed`: no job is judged without it."""

    name: str
    ok: bool | None
    needed: bool
    note: str
    """What was found, or what to do."""


def ask(*command: str) -> tuple[bool, str]:
    """Whether a command ended well, and its first line; what is wrong if it didn't."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        return False, f"{command[0]} isn't installed"
    except OSError as error:
        return False, f"{command[0]} doesn't run: {error.strerror}"
    except subprocess.TimeoutExpired:
        return False, f"{command[0]} gave no answer within {_TIMEOUT_S} s"
    lines = (done.stdout if done.returncode == 0 else done.stderr or done.stdout).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "it said nothing")
    return done.returncode == 0, first[:300]
