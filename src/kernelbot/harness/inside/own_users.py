"""A user of its own for each runner.

Some of what Linux has is counted by user, whatever the namespace: entries of epolls, pages in
pipes, descriptors under way. Where all runners are one user, who takes all of it makes others' runs
fail.
"""

import os
from collections.abc import Iterator

from kernelbot.harness.inside import kernel_files

_APART = 8
"""So many in a row differ."""
FIRST_USER, USERS = 60720, 464
"""Up to 61183: nobody's, by the conventions of systemd, which has users for services above."""


def user_map(uid: int, inside_uid: int) -> str:
    """What root writes into a sandbox's `uid_map`: `uid` is `inside_uid` there, and runners' own
    users are what they are outside."""
    last = FIRST_USER + USERS - 1
    first = uid + 1 if FIRST_USER <= uid < last else FIRST_USER
    return f"{inside_uid} {uid} 1\n{first} {first} {last - first + 1}\n"


def own_users() -> Iterator[int]:
    """The users that this sandbox may give its runners, one after another, for ever; none if its
    system or who started it didn't allow any.

    By chance, since other sandboxes have the same, and a runner can read whose turn it was; but
    each of eight in a row is another one.
    """
    lines = [line.split() for line in kernel_files.read("/proc/self/uid_map").splitlines()]
    ranges = [range(int(first), int(first) + int(count)) for first, _, count in lines]
    theirs = range(FIRST_USER, FIRST_USER + USERS)
    users = [range(max(one[0], theirs[0]), min(one[-1], theirs[-1]) + 1) for one in ranges]
    most = max(users, key=len)
    at, furthest = _drawn(), max(len(most) // _APART, 1)
    while most:  # no list is kept: what a forker has in memory decides where its runners' lies
        at = (at + 1 + _drawn() % furthest) % len(most)
        yield most[at]


def _drawn() -> int:
    return int.from_bytes(os.urandom(8), "big")
