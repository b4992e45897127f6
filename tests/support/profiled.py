"""Runs with files of a profile, without a judge."""

from collections.abc import Mapping

from tests.support.world import World

REPORT = b"""== Counters, per call ==
The mean of 7 calls in a row on the same data, so with warm caches.

cycles        2,000,000  2.00 GHz
instructions  3,000,000  1.50 per cycle

== Nsight Compute ==
void k<64>(const float *) (112, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
  GPU Throughput
  Memory [%]        %  86.36
  Compute (SM) [%]  %   7.12

  Occupancy
  Theoretical Occupancy  %     50
  Achieved Occupancy     %  48.25

== Framework's profiler, 5 calls ==
Name  Self CPU
"""
_ROCPROF = "== rocprofv3 ==\n"
_KERNEL = "k, Context 1, Stream 7\n"
HOSTILE_REPORTS = {
    "wide": (_ROCPROF + "  ".join("h" * 667) + "\n" + "a  b\n" * 199) * 20,
    "tables": "== Nsight Compute ==\n" + (_KERNEL + "  t\n  a  b\n" * 1_000) * 20,
    "names": "== Nsight Compute ==\n" + f"{'<' * 1_900}, Context 1, Stream 7\n t\n a  b\n" * 150,
    "sentences": "== Counters, per call ==\n" + "x\n" * 140_000,
    "long": (_ROCPROF + ("\x1b" * 290 + "  ") * 6 + "\n" + "\x1b  \x1b\n") * 150,
    "text": ("== \U0010ffff ==\n" + "\U0010ffff" * 14_000) * 20,
    "titles": f"== {'<' * 100} ==\n'\n" * 1_000,
}
"""Texts that are small and ask for much, by what they have much of."""


async def leave_files(world: World, run_id: int, files: Mapping[str, bytes]) -> None:
    """Have a run leave these files by name, instead of those that it has."""
    async with world.database.write() as session:
        await session.do("DELETE FROM artifacts WHERE run_id = %(run_id)s", {"run_id": run_id})
        for name, content in files.items():
            kind = "text/plain" if name.endswith(".txt") else "application/gzip"
            await session.do(
                "INSERT INTO artifacts (run_id, name, media_type, content)"
                " VALUES (%(run_id)s, %(name)s, %(kind)s, %(content)s)",
                {"run_id": run_id, "name": name, "kind": kind, "content": content},
            )
