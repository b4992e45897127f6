"""What is said of data that timed calls get again."""

from kernelbot.protocol.job import ProblemSpec

MOST_CALLS = 64
"""So many calls are looked at: two have the same data with a probability of 98 % if there are 500
kinds."""


_ALLOW = "If it has to recur, say `recurring_data: true` in task.yml."


def has_generator(problem: ProblemSpec) -> bool:
    """Whether the generator of a problem with a script of its own is known: only a
    `generate_input` in reference.py."""
    names = [file.name for file in problem.files if "def generate_input" in file.text]
    return "reference.py" in names


def recurs(spec: str) -> str:
    """The workload of this spec has recurring data."""
    return (
        f"The data of timed calls recurs ({spec}): a kernel could remember its answers. "
        "Make all of it from the `seed` of each call, which a benchmark needs as an argument. "
        + _ALLOW
    )


def may_recur(spec: str) -> str:
    """The same of a problem that is judged by a script of its own, whose data nobody else sees."""
    return (
        f"generate_input makes the same data again, with other seeds too ({spec}): if the script's "
        "timed calls get them, a kernel can remember its answers, and nobody but the script would "
        f"notice. Make all of it from the `seed`, and give each call one of its own. {_ALLOW}"
    )
