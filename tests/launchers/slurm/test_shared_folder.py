"""What lies in the work folder of a cluster with warm nodes."""

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.slurm.shared_folder import Offered, OfferedJobs, read_offered_jobs

TWO = "waiting/H100-60-a-1\nwaiting/H100-60-b-2\n"


def test_where_jobs_are() -> None:
    found = read_offered_jobs(TWO + "done/c-3\njobs/c-3/node.7\n")
    waiting = {name: Offered("H100", 60, name) for name in ("a-1", "b-2")}
    assert OfferedJobs(waiting, {"c-3": "7"}, frozenset({"c-3"})) == found


@pytest.mark.parametrize("later", ["jobs/a-1/node.7", "done/a-1"])
def test_what_was_taken_between_two_looks_waits_no_more(later: str) -> None:
    assert {"b-2"} == read_offered_jobs(f"{TWO}{later}\n").waiting.keys()


@pytest.mark.parametrize("line", ["bash: find: not found", "jobs/a", "waiting", "a'; echo x"])
def test_what_isn_t_a_job_is_an_error(line: str) -> None:
    with pytest.raises(SchedulerError, match="instead of a job"):
        read_offered_jobs(f"{TWO}{line}\n")
