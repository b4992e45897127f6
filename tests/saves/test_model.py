import weakref
from dataclasses import replace

from kernelbot.protocol import WorkloadResult
from kernelbot.saves.comparing import SpeedChange
from kernelbot.saves.model import MedianChange, Timings


def timed(median_ns: float, spec: str = "size: 1") -> WorkloadResult:
    low_ns, high_ns = median_ns - 2, median_ns + 2
    return WorkloadResult(spec, (), median_ns, median_ns, 0.0, (low_ns, high_ns), low_ns, high_ns)


def test_the_first_has_nothing_beside_it() -> None:
    (first,) = Timings().add([timed(100)])
    assert (None, None, (100,)) == (first.best, first.last, first.session_ns)


def test_each_is_beside_the_best_and_the_last() -> None:
    timings = Timings()
    for median_ns in (100, 50):
        timings.add([timed(median_ns)])
    timings.add([timed(200)])
    (now,) = timings.add([timed(100)])
    assert (
        MedianChange(SpeedChange.SLOWER, 2.0),
        MedianChange(SpeedChange.FASTER, 0.5),
        (100, 50, 200, 100),
    ) == (
        now.best,
        now.last,
        now.session_ns,
    )


def test_of_two_that_are_as_good_the_first_is_the_best() -> None:
    timings = Timings()
    sure, unsure = timed(100), replace(timed(100), ci95_ns=(50, 150))
    timings.add([sure])
    timings.add([unsure])
    (now,) = timings.add([timed(90)])
    assert MedianChange(SpeedChange.FASTER, 0.9) == now.best


def test_workloads_are_apart() -> None:
    timings = Timings()
    timings.add([timed(100, "a"), timed(100, "b")])
    other, again = timings.add([timed(100, "c"), timed(101, "b")])
    assert (None, MedianChange(SpeedChange.UNKNOWN, 1.01)) == (other.last, again.last)


def test_a_median_of_nothing_is_no_measure() -> None:
    timings = Timings()
    timings.add([timed(0)])
    (now,) = timings.add([timed(1)])
    assert (None, None) == (now.best, now.last)


def test_of_a_long_session_the_samples_of_two_saves_are_kept() -> None:
    timings = Timings()
    kept = []
    for median_ns in (50, *range(100, 200)):
        load = timed(median_ns)
        kept.append(weakref.ref(load))
        timings.add([load])
        del load
    assert [0, 100] == [number for number, one in enumerate(kept) if one() is not None]
