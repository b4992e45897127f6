"""The marks of a timed call: set in one place, seen in another."""

import ctypes
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from kernelbot.harness.data.elements import lying_at
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.marks.marks import NativeMarks, PythonMarks, marks
from kernelbot.harness.inside.marks.probes import Probes, Stretch
from kernelbot.harness.inside.marks.record import (
    MAX_ADDRESSES,
    RECORD_BYTES,
    MarkOutcome,
    MarkRecord,
    Marks,
    Ready,
)
from kernelbot.harness.judge.calls.gathering import gather

TURN = 7


class Pair(NamedTuple):
    left: object
    right: object


@dataclass
class Named:
    one: object
    other: object = None
    more: object = None


@dataclass(slots=True)
class Slotted:
    one: object


@pytest.fixture
def page() -> Iterator[SharedBuffer]:
    made = SharedBuffer.create(RECORD_BYTES)
    yield made
    made.close()


@pytest.fixture(params=["native", "python"])
def either(request: pytest.FixtureRequest) -> Marks:
    return marks() if request.param == "native" else PythonMarks()


def called(either: Marks, page: SharedBuffer, function: Any, output: Any = None) -> tuple[Any, Any]:
    """What a call between the marks returns, and the record that it leaves."""
    record: Any = MarkRecord.from_address(page.address)
    record.go = record.describe = TURN
    (returned,) = either.call(page.address, TURN, function, [(1,)], output, None)
    return returned, record


def addresses_of(record: Any) -> list[int]:
    return list(record.addresses[: record.count])


def test_there_is_a_compiler_where_tests_run() -> None:
    assert isinstance(marks(), NativeMarks)


def test_an_array_is_marked_by_its_address(either: Marks, page: SharedBuffer) -> None:
    array = np.arange(6).reshape(2, 3)
    returned, record = called(either, page, lambda _one: array[1:])
    assert (MarkOutcome.TAKEN, [returned.ctypes.data]) == (record.outcome, addresses_of(record))


def test_so_are_the_arrays_of_a_tuple(either: Marks, page: SharedBuffer) -> None:
    pair, record = called(either, page, lambda _one: (np.ones(3), np.zeros(0)))
    assert (MarkOutcome.TAKEN, [one.ctypes.data for one in pair]) == (
        record.outcome,
        addresses_of(record),
    )


def test_a_tensor_is_marked_by_its_address(either: Marks, page: SharedBuffer) -> None:
    torch = pytest.importorskip("torch")
    if isinstance(either, NativeMarks) and "torch" not in sys.modules:
        pytest.skip("torch came later than the marks")
    tensor, record = called(either, page, lambda _one: torch.ones(3))
    # If the marks of this process were made before torch was imported, they don't know its tensors.
    if record.outcome == MarkOutcome.TAKEN:
        assert [tensor.data_ptr()] == addresses_of(record)


def test_so_are_the_arrays_of_nested_containers(either: Marks, page: SharedBuffer) -> None:
    array = np.ones(1)
    value = {"a": [array], "b": Pair(array, None), "c": (7, "text", True)}
    _, record = called(either, page, lambda _one: value)
    assert (MarkOutcome.TAKEN, [array.ctypes.data] * 2) == (record.outcome, addresses_of(record))


def test_so_are_the_fields_of_a_dataclass(either: Marks, page: SharedBuffer) -> None:
    array = np.ones(1)
    value = Named(array, [None, array], Slotted(array))
    _, record = called(either, page, lambda _one: value)
    assert (MarkOutcome.TAKEN, [array.ctypes.data] * 3) == (record.outcome, addresses_of(record))


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int8, np.bool_, np.complex128])
def test_a_numpy_scalar_is_marked_by_the_address_of_its_bytes(
    either: Marks, page: SharedBuffer, kind: Any
) -> None:
    scalar, record = called(either, page, lambda one: kind(one))
    (address,) = addresses_of(record)
    assert scalar.tobytes() == ctypes.string_at(address, scalar.nbytes)


def test_a_float_is_marked_by_the_address_of_its_bytes(either: Marks, page: SharedBuffer) -> None:
    number, record = called(either, page, lambda one: one / 3)
    (address,) = addresses_of(record)
    assert number == ctypes.c_double.from_address(address).value


@pytest.mark.parametrize(
    "value", [{1}, b"bytes", 1j, [np.ones(1), np.str_("a")], Named(np.ones(1), {2}), (1.0,) * 501]
)
def test_anything_else_must_be_described(either: Marks, page: SharedBuffer, value: object) -> None:
    _, record = called(either, page, lambda _one: value)
    assert (MarkOutcome.UNKNOWN, True) == (record.outcome, record.count <= MAX_ADDRESSES)


def test_a_subclass_must_be_described(either: Marks, page: SharedBuffer) -> None:
    _, record = called(either, page, lambda _one: np.ones((2, 2)).view(np.matrix))
    assert MarkOutcome.UNKNOWN == record.outcome


def test_what_is_filled_counts_instead_of_what_is_returned(
    either: Marks, page: SharedBuffer
) -> None:
    filled = np.ones(2)
    _, record = called(either, page, lambda _one: None, filled)
    assert (MarkOutcome.TAKEN, [filled.ctypes.data]) == (record.outcome, addresses_of(record))


def test_nothing_at_all_is_marked(either: Marks, page: SharedBuffer) -> None:
    returned, record = called(either, page, None)
    assert (None, MarkOutcome.TAKEN, 0) == (returned, record.outcome, record.count)


def test_what_raises_is_marked_and_raises(either: Marks, page: SharedBuffer) -> None:
    with pytest.raises(ZeroDivisionError):
        called(either, page, lambda one: one / 0)
    record: Any = MarkRecord.from_address(page.address)
    assert (MarkOutcome.RAISED, TURN) == (record.outcome, record.mark)


def test_calls_follow_each_other_and_their_outputs_are_marked(
    either: Marks, page: SharedBuffer
) -> None:
    record: Any = MarkRecord.from_address(page.address)
    record.go = record.describe = TURN
    rows = [(np.full(2, one),) for one in range(5)]
    returned = either.call(page.address, TURN, lambda one: one + 1, rows, None, None)
    assert [1, 2, 3, 4, 5] == [int(one[0]) for one in returned]
    assert [one.ctypes.data for one in returned] == addresses_of(record)


def test_one_that_raises_ends_all(either: Marks, page: SharedBuffer) -> None:
    record: Any = MarkRecord.from_address(page.address)
    record.go = record.describe = TURN
    called_with = []

    def kernel(one: int) -> float:
        called_with.append(one)
        return 1 / one

    with pytest.raises(ZeroDivisionError):
        either.call(page.address, TURN, kernel, [(2,), (0,), (1,)], None, None)
    assert ([2, 0], MarkOutcome.RAISED) == (called_with, record.outcome)


def test_being_ready_is_said_before_the_call(either: Marks, page: SharedBuffer) -> None:
    record: Any = MarkRecord.from_address(page.address)
    record.go = record.describe = TURN
    mine, theirs = socket.socketpair()
    with mine, theirs:
        ready = Ready(mine.fileno(), b"ready")
        either.call(page.address, TURN, lambda _one: theirs.recv(100), [(1,)], None, ready)
    assert MarkOutcome.UNKNOWN == record.outcome


ALL_KINDS = (
    "void kernel(long* out, double a, long b, _Bool c, double d, long e, long f, long g, long h,"
    " double i, long j) {\n"
    "    double all[] = {a, b, c, d, e, f, g, h, i, j};\n"
    "    for (int k = 0; k < 10; k++) out[k] = 2 * all[k];\n"
    "}\n"
    "void few(long* out, long b) { *out = b; }\n"
    "void doubles(long* out, double a, double b, double c, double d, double e, double f, double g,"
    " double h, double i) { *out = a + b + c + d + e + f + g + h + i; }\n"
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "kernel.c").write_text(ALL_KINDS)
    command = ["gcc", "-O1", "-shared", "-fPIC", "-o", "kernel.so", "kernel.c"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "kernel.so"))


def c_arguments(out: Any, *values: float) -> tuple[Any, ...]:
    kinds: dict[type, Any] = {bool: ctypes.c_bool, int: ctypes.c_int64, float: ctypes.c_double}
    return ctypes.c_void_p(out.ctypes.data), *(kinds[type(value)](value) for value in values)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("few", (-7,), [-7]),
        ("kernel", (0.5, 1 << 40, True, -2.5, -3, 4, 5, 6, 1.5, 7),
         [1, 1 << 41, 2, -5, -6, 8, 10, 12, 3, 14]),
        ("doubles", (1.0,) * 9, [9]),
    ],
)  # fmt: skip
def test_a_c_function_gets_its_arguments(
    either: Marks,
    page: SharedBuffer,
    compiled: ctypes.CDLL,
    name: str,
    values: tuple[float, ...],
    expected: list[int],
) -> None:
    record: Any = MarkRecord.from_address(page.address)
    record.go = record.describe = TURN
    outs = [np.zeros(10, np.int64) for _ in range(3)]
    rows = [c_arguments(out, *values) for out in outs]
    function = compiled[name]
    function.restype = None
    either.call(page.address, TURN, function, rows, outs, None)
    assert [expected] * 3 == [out[: len(expected)].tolist() for out in outs]
    assert [out.ctypes.data for out in outs] == addresses_of(record)


def test_a_c_function_is_called_from_c(page: SharedBuffer, compiled: ctypes.CDLL) -> None:
    """Else the interpreter would be between the marks."""
    record: Any = MarkRecord.from_address(page.address)
    record.go = record.describe = TURN
    function, out = compiled["few"], np.zeros(1, np.int64)
    seen_by_python: list[Any] = []
    function.restype = None

    def noted(result: Any, *_given: Any) -> Any:
        seen_by_python.append(result)
        return result

    function.errcheck = noted
    marks().call(page.address, TURN, function, [c_arguments(out, 3)], out, None)
    assert ([], 3) == (seen_by_python, out[0])


def test_times_are_those_of_the_judges_clock(either: Marks, page: SharedBuffer) -> None:
    before = time.perf_counter_ns()
    _, record = called(either, page, lambda _one: time.sleep(0.001))
    assert before <= record.start_ns < record.end_ns <= time.perf_counter_ns()


def test_a_mark_is_waited_for(either: Marks, page: SharedBuffer) -> None:
    record: Any = MarkRecord.from_address(page.address)
    assert 0 == either.wait(page.address, TURN, 0.001, 0.001, -1)[0]
    threading.Timer(0.05, lambda: either.set(page.address + MarkRecord.mark.offset, TURN)).start()
    start = time.perf_counter_ns()
    while not (seen_ns := either.wait(page.address, TURN, 0.001, 0.05, -1)[0]):
        pass
    assert start < seen_ns <= time.perf_counter_ns()
    assert TURN == record.mark


def marked(either: Marks, page: SharedBuffer, arrays: list[Any], expected: list[int]) -> Probes:
    """The probes of a call with these arrays, where arrays of so many bytes were expected."""
    record: Any = MarkRecord.from_address(page.address)
    for place, array in enumerate(arrays):
        record.addresses[place] = array.ctypes.data
    record.outcome, record.count, record.mark = MarkOutcome.TAKEN, len(arrays), TURN
    probes = Probes.choose(os.getpid(), stretches(expected))
    assert either.wait(page.address, TURN, 0.0, 0.0, -1, probes)[0]
    return probes


def stretches(sizes: list[int]) -> list[Stretch]:
    return [Stretch(sum(sizes[:place]), size) for place, size in enumerate(sizes)]


def copied(arrays: list[Any]) -> SharedBuffer:
    """What the judge copies once the runner is frozen."""
    buffer = SharedBuffer.create(sum(array.nbytes for array in arrays) or 1)
    buffer.write(0, b"".join(array.tobytes() for array in arrays))
    return buffer


@pytest.mark.parametrize("sizes", [[100], [1], [7, 0, 9000], [0], [], [3] * 32])
def test_what_stays_as_it_was_at_the_mark_agrees_with_its_probes(
    either: Marks, page: SharedBuffer, sizes: list[int]
) -> None:
    arrays = [np.random.default_rng(size).bytes(size) for size in sizes]
    views = [np.frombuffer(bytearray(array), np.uint8) for array in arrays]
    probes = marked(either, page, views, sizes)
    taken = copied(views)
    assert (1, 0) == (probes.were_read, probes.count_changed(taken.address, stretches(sizes)))
    taken.close()


def test_what_is_written_after_the_mark_differs_from_its_probes(
    either: Marks, page: SharedBuffer
) -> None:
    small, large = np.zeros(2, np.uint8), np.zeros(1 << 20, np.uint8)
    probes = marked(either, page, [small, large], [2, 1 << 20])
    small[:], large[:] = 1, 1
    taken = copied([small, large])
    changed = probes.count_changed(taken.address, stretches([2, 1 << 20]))
    assert (4, 4) == (probes.count, changed)
    taken.close()


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("take", [np.s_[::2], np.s_[::-3], np.s_[5:, ::-7], np.s_[::-1, 100:]])
def test_probes_of_a_view_are_compared_with_its_elements_alone(
    either: Marks, page: SharedBuffer, take: Any, *, large: bool
) -> None:
    whole = np.random.default_rng(1).random((3000, 500) if large else (9, 120))
    view, record = whole[take], MarkRecord.from_address(page.address)
    lies = lying_at(0, view.shape, view.strides, view.itemsize)
    record.addresses[0], record.outcome = view.ctypes.data, MarkOutcome.TAKEN
    record.count, record.mark = 1, TURN
    expected = [Stretch(0, view.nbytes, lies)]
    probes = Probes.choose(os.getpid(), expected)
    assert either.wait(page.address, TURN, 0.0, 0.0, -1, probes)[0]
    elements = view.copy()
    whole[:] = -1.0
    view[:] = elements
    same, other = (np.empty(view.size) for _ in range(2))
    gather(os.getpid(), view.ctypes.data, lies, same.ctypes.data)
    view += 1
    gather(os.getpid(), view.ctypes.data, lies, other.ctypes.data)
    assert [0, 4] == [probes.count_changed(one.ctypes.data, expected) for one in (same, other)]


@pytest.mark.exhaustive  # each run has test_probes_of_a_view_are_compared_with_its_elements_alone
def test_the_time_is_that_of_the_reading_if_that_had_to_wait(
    either: Marks, page: SharedBuffer
) -> None:
    """A mapping that changes keeps readers waiting, while what they read can still be written. On a
    busy machine some wait for a processor instead, after the reading: so most of five count."""
    record: Any = MarkRecord.from_address(page.address)
    array = np.zeros(64, np.uint8)
    record.addresses[0], record.outcome = array.ctypes.data, MarkOutcome.TAKEN
    record.count, record.mark = 1, TURN
    memory = np.ones(1 << 29, np.uint8)
    libc, over = ctypes.CDLL(None), threading.Event()
    place, size = memory.ctypes.data + 4096 & ~4095, memory.nbytes - 8192

    def keep_changing() -> None:
        while not over.is_set():
            for protection in (1, 3):  # to be read alone, and as before
                libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), protection)

    changing = threading.Thread(target=keep_changing)
    changing.start()
    try:
        shares: list[float] = []
        deadline = time.monotonic() + 60
        while len(shares) < 5 and time.monotonic() < deadline:
            probes = Probes.choose(os.getpid(), [Stretch(0, 64)])
            start_ns = time.perf_counter_ns()
            seen_ns, _ = either.wait(page.address, TURN, 0.0, 0.0, -1, probes)
            waited_ns = time.perf_counter_ns() - start_ns
            if waited_ns >= 2_000_000:
                shares.append((seen_ns - start_ns) / waited_ns)
    finally:
        over.set()
        changing.join()
    assert 5 == len(shares)
    assert statistics.median(shares) > 0.5


@pytest.mark.parametrize("expected", [[], [8, 8], [8] * 40])
def test_nothing_is_read_if_the_mark_names_other_arrays(
    either: Marks, page: SharedBuffer, expected: list[int]
) -> None:
    assert 0 == marked(either, page, [np.ones(1)], expected).were_read


def test_a_count_beyond_the_record_is_not_followed(either: Marks, page: SharedBuffer) -> None:
    record: Any = MarkRecord.from_address(page.address)
    record.outcome, record.count, record.mark = MarkOutcome.TAKEN, 100_000, TURN
    probes = Probes.choose(os.getpid(), [Stretch(0, 8)] * 100_000)
    assert either.wait(page.address, TURN, 0.0, 0.0, -1, probes)[0]
    assert 0 == probes.were_read


def test_nothing_is_read_if_there_is_no_memory(either: Marks, page: SharedBuffer) -> None:
    record: Any = MarkRecord.from_address(page.address)
    record.addresses[0], record.outcome, record.count, record.mark = 8, MarkOutcome.TAKEN, 1, TURN
    probes = Probes.choose(os.getpid(), [Stretch(0, 64)])
    assert either.wait(page.address, TURN, 0.0, 0.0, -1, probes)[0]
    assert 0 == probes.were_read
