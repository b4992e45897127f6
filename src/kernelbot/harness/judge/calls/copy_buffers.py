"""One runner's calls whose data and output are copied: those on a CPU that aren't timed, and those
on a GPU whose driver can't share memory between processes.

    lay        the judge copies the data in, over which the runner lays arrays, or brings them to
               its GPU
    go         the runner calls the kernel; if the call is to be cold, it flushes its GPU's cache
    returned   it has taken bytes of the output, at places that it wasn't told before `go`
    take       it copies the output, in which these bytes must still be, and describes it

With several ranks, each step is taken with all of them before the next one, see `steps`. A call of
one rank on a CPU, which isn't timed, needs no step between `lay` and `go`: see `go_at_once`.
"""

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.leaves import has_gaps
from kernelbot.harness.data.shared_memory import SharedBuffer, renewed
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE
from kernelbot.harness.judge.calls import gathering
from kernelbot.harness.judge.calls.connection import RunnerConnection
from kernelbot.harness.judge.calls.probes import choose
from kernelbot.harness.judge.calls.replies import count_parts, differ, read_answer, value_shared
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import garbage
from kernelbot.harness.words.windows import Reply
from kernelbot.protocol import Limits

_POISON = 0xA5
_FIRST_OUTPUT_BYTES = 1 << 16


class CopyBuffers:
    """The memory of one runner's calls."""

    returned = messages.Returned
    described = messages.Done

    def __init__(
        self, runner: RunnerConnection, limits: Limits, modules: frozenset[str], device: str | None
    ) -> None:
        """`device`: the only one on which outputs may lie; None: on any."""
        self._runner = runner
        self._limits = limits
        self._modules = modules
        self._device = device
        self._input: SharedBuffer | None = None
        self._output: SharedBuffer | None = None
        self._probes: list[int] = []
        self._cold = False
        self._max_bytes: int | None = None
        self._wants_inputs = False
        self._inputs: messages.InputsDescribed | None = None
        """The last call's, if it was described with its output."""

    def lay(self, data: Encoded, kernel: str, *, reuse: bool) -> None:
        """Copy the data in, and poison the output; the runner will say `ready`."""
        self._wants_inputs = False
        self._prepare(data, kernel, reuse=reuse, probes=None)

    def go_at_once(self, data: Encoded, kernel: str, inputs: bool) -> bool:
        """Implements `CallBuffers`, on a CPU. The runner is told the probes with the data: it would
        be told before the call in any case, and nobody counts this one's time."""
        if self._device != "cpu":
            return False
        self._wants_inputs, self._probes = inputs, choose()
        self._prepare(data, kernel, reuse=False, probes=self._probes)
        return True

    def _prepare(
        self, data: Encoded, kernel: str, *, reuse: bool, probes: list[int] | None
    ) -> None:
        self._inputs = None
        fds: list[int] = []
        is_input_new = self._input is None or self._input.size_bytes < data.size_bytes
        if self._input is None or is_input_new:
            self._input = renewed(self._input, data.size_bytes)
            fds.append(self._input.fd)
        data.copy_to(self._input)
        is_output_new = self._output is None
        if self._output is None:
            likely = max(data.size_bytes, _FIRST_OUTPUT_BYTES) + OUTPUT_BASE
            self._output = SharedBuffer.create(likely)
            fds.append(self._output.fd)
        self._output.fill(_POISON, OUTPUT_BASE + data.size_bytes)
        self._runner.send(
            messages.Prepare(data.skeleton, kernel, reuse, is_input_new, is_output_new, probes),
            fds,
        )

    def begin_to_fill(self, _data: Encoded, *, cold: bool) -> None:
        """Choose the places of which bytes are taken. The data is complete already; the runner
        flushes its own cache."""
        self._cold, self._probes = cold, choose()

    def begin_to_complete(self, _data: Encoded) -> None:
        """The data is complete already."""

    def wait(self) -> None:
        """Nothing was begun."""

    def go(self) -> None:
        """Have the kernel called; the runner will say `returned`."""
        self._runner.send(messages.GoAndCopy(self._probes, self._cold))

    def begin_to_secure(self, _reply: messages.Returned, max_bytes: int | None) -> None:
        """The output is copied when it is described. `max_bytes`: of a right one, if known."""
        self._max_bytes = max_bytes

    def forget(self) -> None:
        """No output is refused before it is described."""

    def ask_for_description(self) -> None:
        """The runner will copy its output, and say what it is: `described`."""
        self._runner.send(messages.Take(self._wants_inputs))

    def value(self, _secured: None, reply: messages.Done) -> Reply:
        """What a call came to. Raises `AuthorFailure`."""
        answer = read_answer(reply, self._limits, self._max_bytes)
        if self._wants_inputs:
            self._inputs = messages.InputsDescribed(reply.inputs)
        if not reply.fits:
            self._fetch_again(answer.size_bytes)
        if self._output is None:
            raise AssertionError("a call always has an output buffer")
        value = value_shared(answer, self._output, self._probes, self._modules, self._device)
        parts, gaps = count_parts(answer), has_gaps(answer.skeleton)
        if gaps:  # and so the output of a timed call will have some
            gathering.prepare()
        return Reply(value, answer.window, answer.size_bytes, reply.aliased, parts, gaps=gaps)

    def compare_inputs(self, _data: Encoded) -> None:
        """The runner is asked for them, by `inputs_changed`."""

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its inputs other than they were. Raises `AuthorFailure`."""
        if self._inputs is not None:
            return differ(self._inputs, data, self._input)
        self._runner.send(messages.DescribeInputs())
        return differ(self._runner.receive(), data, self._input)

    def close(self) -> None:
        """Give the memory back."""
        for buffer in (self._input, self._output):
            if buffer is not None:
                buffer.close()

    def _fetch_again(self, size: int) -> None:
        old_probes = self._output.read(0, OUTPUT_BASE) if self._output else b""
        self._output = renewed(self._output, OUTPUT_BASE + size)
        self._output.write(0, old_probes)
        self._runner.send(messages.Copy(), [self._output.fd])
        reply = self._runner.receive()
        if not isinstance(reply, messages.Copied):
            raise garbage(reply)
