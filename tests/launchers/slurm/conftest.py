from collections.abc import Iterator

import pytest
from scripts.slurm_cluster import SlurmCluster


@pytest.fixture(autouse=True)
def reached(slurm: SlurmCluster) -> Iterator[None]:
    """Slurm's commands talk to the session's cluster, on which no job is left afterwards."""
    with slurm.reached():
        yield
        slurm.cancel_all()
