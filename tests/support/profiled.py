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
