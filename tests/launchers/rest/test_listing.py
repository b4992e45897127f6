"""The list of jobs, read by pages while others add to it."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.launchers.base import JobState
from kernelbot.launchers.rest.listing import JobFinder

SIZE = 3


@dataclass(frozen=True)
class Job:
    number: int
    name: str
    state: JobState | None = JobState.WAITING


@dataclass
class Scheduler:
    """Lists its jobs, the newest first."""

    jobs: list[Job] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    """Those that were read."""
    held: asyncio.Event | None = None
    pause_s: float = 0.0

    def add(self, name: str = "") -> Job:
        job = Job(len(self.jobs) + 1, name)
        self.jobs.append(job)
        return job

    async def page(self, number: int) -> list[Job]:
        self.pages.append(number)
        newest = self.jobs[::-1][SIZE * (number - 1) : SIZE * number]
        if self.held is not None:
            await self.held.wait()
        return newest

    def listing(self) -> JobFinder[Job]:
        return JobFinder(self.page, SIZE, lambda: self.pause_s)


@given(st.lists(st.one_of(st.none(), st.integers(0, 30)), max_size=60))
def test_every_job_is_found_however_many_came_between(steps: list[int | None]) -> None:
    """A number: look for that job; None: somebody adds one."""

    async def run() -> None:
        scheduler = Scheduler()
        listing = scheduler.listing()
        for step in steps:
            if step is None:
                scheduler.add(f"job-{len(scheduler.jobs)}")
            else:
                wanted = step + 1 if step < len(scheduler.jobs) else None
                reachable = wanted is None or wanted > len(scheduler.jobs) - 10 * SIZE
                if reachable:
                    assert await listing.number_of(f"job-{step}") == wanted

    asyncio.run(run())


@given(st.integers(0, 40), st.sets(st.integers(1, 45)))
def test_states_are_those_of_the_wanted_that_there_are(count: int, wanted: set[int]) -> None:
    async def run() -> None:
        scheduler = Scheduler()
        for _ in range(count):
            scheduler.add()
        found, missing = await scheduler.listing().states(wanted)
        there = {number for number in wanted if count - 10 * SIZE < number <= count}
        assert (set(found), missing) == (there, wanted - there)

    asyncio.run(run())


async def test_no_more_is_read_than_the_wanted_reach_back() -> None:
    scheduler = Scheduler()
    for _ in range(20):
        scheduler.add()
    await scheduler.listing().states({20, 17})
    assert scheduler.pages == [1, 2]


async def test_a_second_look_reads_what_is_new() -> None:
    scheduler = Scheduler()
    for number in range(20):
        scheduler.add(f"job-{number}")
    listing = scheduler.listing()
    await listing.number_of("job-0")
    scheduler.pages.clear()
    scheduler.add("new")
    assert (await listing.number_of("new"), await listing.number_of("job-0")) == (21, 1)
    assert scheduler.pages == [1, 1]


async def test_a_look_never_uses_a_list_older_than_itself() -> None:
    scheduler = Scheduler(held=asyncio.Event())
    listing = scheduler.listing()
    first = asyncio.create_task(listing.number_of("late"))
    await asyncio.sleep(0)
    scheduler.add("late")  # after the first has been answered, and before it hears of it
    others = [asyncio.create_task(listing.number_of("late")) for _ in range(5)]
    await asyncio.sleep(0)
    assert scheduler.held is not None
    scheduler.held.set()
    assert (await first, await asyncio.gather(*others)) == (None, [1] * 5)
    assert scheduler.pages == [1, 1]


async def test_a_look_that_fails_counts_for_nobody() -> None:
    scheduler = Scheduler()
    listing = scheduler.listing()
    scheduler.add("job")
    good, scheduler.jobs = scheduler.jobs, [None]  # type: ignore[list-item]  # it fails on that
    looks = [asyncio.create_task(listing.number_of("job")) for _ in range(3)]
    ends = await asyncio.gather(*looks, return_exceptions=True)
    scheduler.jobs = good
    assert [isinstance(end, AttributeError) for end in ends] == [True] * 3
    assert await listing.number_of("job") == 1


async def test_of_two_jobs_of_a_name_the_first_counts() -> None:
    scheduler = Scheduler()
    for _ in range(2):
        scheduler.add("twice")
    assert await scheduler.listing().number_of("twice") == 1


async def test_a_list_is_not_read_again_while_requests_run_short() -> None:
    scheduler = Scheduler(pause_s=3600)
    listing = scheduler.listing()
    for _ in range(2):
        scheduler.add()
    await listing.states({1})
    found, missing = await listing.states({1, 2})  # of the second nothing is known yet
    assert (set(found), len(missing), scheduler.pages) == ({1}, 0, [1])


async def test_what_a_launch_reads_is_news_of_all() -> None:
    scheduler = Scheduler(pause_s=3600)
    listing = scheduler.listing()
    scheduler.add()
    listing.put(scheduler.add())
    await listing.states({1})
    listing.put(scheduler.jobs[1])
    scheduler.jobs = [Job(number, "", JobState.RUNNING) for number in (1, 2)]
    await listing.number_of("job")
    found, _ = await listing.states({1, 2})
    assert [found[number].state for number in (1, 2)] == [JobState.RUNNING] * 2


async def test_what_was_forgotten_is_not_found() -> None:
    scheduler = Scheduler()
    scheduler.add("job")
    listing = scheduler.listing()
    await listing.number_of("job")
    scheduler.jobs.clear()
    listing.forget("job")
    assert await listing.number_of("job") is None


async def test_further_jobs_of_a_name_are_told() -> None:
    scheduler = Scheduler()
    listing = scheduler.listing()
    for name in ("a", "b", "a", "a"):
        scheduler.add(name)
    await listing.number_of("a")
    found = [listing.others(name, number) for name, number in (("a", 3), ("b", 2), ("c", 1))]
    listing.forget("a")
    assert [frozenset((1, 4)), frozenset(), frozenset()] == found
    assert frozenset() == listing.others("a", 3)
