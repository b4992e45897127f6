"""Asking the programs that come with drivers."""

import subprocess

_TIMEOUT_S = 30


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
