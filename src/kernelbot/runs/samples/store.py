"""What was measured in a run, and the files that it left."""

import base64

from kernelbot.protocol import RunResult
from kernelbot.store.database import WriteSession
from kernelbot.store.jsontext import clean
from kernelbot.store.samples import pack
from kernelbot.store.sqlfiles import statements


async def add_measurements(session: WriteSession, run_id: int, result: RunResult) -> None:
    """Keep every sample and every artifact of a run's result."""
    sql = statements(__file__)
    measurements = [
        {
            "run_id": run_id,
            "phase": phase.phase,
            "workload": index,
            "spec": clean(load.spec),
            "samples": len(load.samples_ns),
            "median_ns": load.median_ns,
            "ci_low_ns": load.ci95_ns[0],
            "ci_high_ns": load.ci95_ns[1],
            "samples_zlib": pack(load.samples_ns),
        }
        for phase in result.phases
        for index, load in enumerate(phase.workloads)
    ]
    if measurements:
        await session.do_each(sql["add_measurement"], measurements)
    by_name = {clean(artifact.name): artifact for artifact in result.artifacts}
    artifacts = [
        {
            "run_id": run_id,
            "name": name,
            "media_type": clean(artifact.media_type),
            "content": base64.b64decode(artifact.content_base64),
        }
        for name, artifact in by_name.items()
    ]
    if artifacts:
        await session.do_each(sql["add_artifact"], artifacts)
