"""What lies in the work folder of a cluster with warm nodes, and the commands that change it.

`waiting/NEEDS-SECONDS-ATTEMPT/` is a job that no node has taken, `jobs/ATTEMPT/node.NUMBER` says
which has, `done/ATTEMPT` that it has ended; see `harness.host.shared_jobs` for the nodes' side.
"""

from dataclasses import dataclass, field

from kernelbot.domain.errors import SchedulerError

CANCELLED, FAILED = "cancelled", "failed"
"""What nodes write into `done`, beside exit codes."""

# Nothing but these words is read by a shell; what follows are its arguments.
LOOK = (
    'cd -- "$1" && find waiting done -mindepth 1 -maxdepth 1 ! -name ".*" '
    '&& find jobs -mindepth 2 -maxdepth 2 -name "node.*" 2>/dev/null; test -d waiting'
)
"""Where all jobs are. Some may go while it looks."""
OFFER = (
    'umask 077; cd -- "$1" && draft=$(mktemp -d waiting/.draft.XXXXXX) && '
    'cat > "$draft/jobspec.json" && test "$(wc -c < "$draft/jobspec.json")" -eq "$3" && '
    'mv -T -- "$draft" "waiting/$2" || { rm -rf -- "$draft"; exit 1; }'
)
"""Standard input is the job, and the third argument its size: it is there whole, or not. A
connection that breaks off ends the input as well."""
_EACH = 'for found in waiting/*; do [ "${found#*-*-}" = "$2" ] && '
WITHDRAW = (
    'umask 077; cd -- "$1" && : > "cancels/$2" && '
    + _EACH
    + 'mv -T -- "$found" "jobs/$2" && rm -f -- "jobs/$2/jobspec.json" && echo '
    + CANCELLED
    + ' > "done/$2"; done; test -e "cancels/$2"'
)
"""Takes a job as a node does, if none has it; one that has it stops."""
FORGET = (
    'cd -- "$1" && '
    + _EACH
    + 'rm -rf -- "$found"; done; '
    + 'cd -- "$1" && rm -rf -- "jobs/$2" "done/$2" "cancels/$2"'
)


@dataclass(frozen=True)
class Offered:
    """A job that waits. `needs`: which nodes can take it."""

    needs: str
    limit_s: int
    attempt: str

    @property
    def name(self) -> str:
        return f"{self.needs}-{self.limit_s}-{self.attempt}"


@dataclass(frozen=True)
class OfferedJobs:
    """Where jobs are."""

    waiting: dict[str, Offered] = field(default_factory=dict)
    """By attempt, as are the others."""
    taken: dict[str, str] = field(default_factory=dict)
    """With the number of the node."""
    done: frozenset[str] = frozenset()

    @property
    def busy(self) -> frozenset[str]:
        """Numbers of the nodes that have a job which hasn't ended."""
        open_ones = (number for job, number in self.taken.items() if job not in self.done)
        return frozenset(open_ones)

    def has(self, attempt: str) -> bool:
        """Whether it was offered before."""
        return attempt in self.waiting or attempt in self.taken or attempt in self.done


def read_offered_jobs(text: str) -> OfferedJobs:
    """What `LOOK` answered. It looks at what waits first, so a job that is seen twice has been
    taken meanwhile. Raises `SchedulerError` for anything else."""
    waiting: dict[str, Offered] = {}
    taken: dict[str, str] = {}
    done: set[str] = set()
    for line in filter(None, text.splitlines()):
        match line.split("/"):
            case ["waiting", name] if offered := _offered(name):
                waiting[offered.attempt] = offered
            case ["done", attempt]:
                done.add(attempt)
            case ["jobs", attempt, mark]:
                taken[attempt] = mark.removeprefix("node.")
            case _:
                raise SchedulerError(f"find answered {line[:200]!r} instead of a job.")
    for attempt in {*taken, *done} & waiting.keys():
        del waiting[attempt]
    return OfferedJobs(waiting, taken, frozenset(done))


def _offered(name: str) -> Offered | None:
    needs, seconds, attempt = (*name.split("-", 2), "", "")[:3]
    return Offered(needs, int(seconds), attempt) if seconds.isdecimal() and attempt else None
