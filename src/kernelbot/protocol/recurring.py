"""What is said of data that timed calls get again."""

MOST_CALLS = 64
"""So many calls are looked at: two have the same data with a probability of 98 % if there are 500
kinds."""


def recurs(spec: str) -> str:
    """The workload of this spec has recurring data."""
    return (
        f"The data of timed calls recurs ({spec}): a kernel could remember its answers. "
        "Make all of it from the `seed` of each call, which a benchmark needs as an argument. "
        "If it has to recur, say `recurring_data: true` in task.yml."
    )
