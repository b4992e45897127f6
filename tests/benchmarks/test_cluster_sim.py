import asyncio
import os
from pathlib import Path

import psycopg
import pytest
from benchmarks.cluster_sim import ends_table, load_table, simulate, waits_tables
from benchmarks.cluster_sim_ends import gini, read_ends
from benchmarks.cluster_sim_launchers import FAILURES, SCHEDULERS, SimulatedLauncher
from benchmarks.cluster_sim_plan import Options, make_orders
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.launchers.base import JobState
from kernelbot.protocol import Fault
from tests.launchers.stages import a_job

AMOUNTS = st.lists(st.floats(min_value=0, max_value=1e6), min_size=1)


@given(AMOUNTS)
def test_inequality_lies_between_none_and_all(values: list[float]) -> None:
    assert -1e-9 <= gini(values) <= 1


@given(AMOUNTS, st.floats(min_value=0.001, max_value=1000))
def test_inequality_knows_no_unit(values: list[float], factor: float) -> None:
    assert gini(values) == pytest.approx(gini([value * factor for value in values]), abs=1e-6)


def test_inequality_of_what_is_known() -> None:
    found = [gini(values) for values in ([], [0, 0], [5, 5, 5], [0, 0, 0, 1], [1, 3])]
    assert found == pytest.approx([0, 0, 0, 0.75, 0.25])


def test_all_that_was_asked_for_is_sent_in_time() -> None:
    options = Options(authors=20, submissions=500, rate=50)
    orders = make_orders(options)
    moments = [order.at_s for order in orders]
    assert (len(orders), moments == sorted(moments)) == (500, True)
    assert 0 <= moments[0] <= moments[-1] <= options.lasts_s
    assert {order.device for order in orders} == {each.device for each in SCHEDULERS}
    rush = sum(moment > 0.8 * options.lasts_s for moment in moments)
    assert 0.25 < rush / len(orders) < 0.42


async def test_a_simulated_job_has_one_fate_whoever_asks() -> None:
    scheduler = SCHEDULERS[1]
    first, second = (SimulatedLauncher(scheduler, 1e9) for _ in range(2))
    handles = [await first.launch(a_job("accepted", scheduler.device)) for _ in range(300)]
    await asyncio.sleep(0.01)  # all are over by now
    outcomes = [await each.poll(handles) for each in (first, second)]
    states = [{h: outcome.state for h, outcome in found.items()} for found in outcomes]
    lost = [one for one in outcomes[0].values() if one.state is JobState.LOST]
    assert states[0] == states[1]
    assert 0 < len(lost) < 10 * FAILURES * len(handles)
    assert {one.fault for one in lost} <= {Fault.SCHEDULER}


@pytest.mark.exhaustive
async def test_a_tiny_simulation_loses_and_doubles_nothing(
    database_url: str, tmp_path: Path
) -> None:
    options = Options(authors=8, submissions=40, rate=20, speed=50, kills=1)
    load = await simulate(database_url, tmp_path, options, os.getpid())
    ends = read_ends(database_url, options.speed)
    assert (ends.submissions, ends.lost, ends.doubled) == (40, 0, 0)
    assert ends.accepted + ends.gave_up == ends.runs >= 40
    shown = [ends_table(ends, options), waits_tables(ends), load_table(load, ends.runs)]
    assert all("\n" in text for text in shown)
    with psycopg.connect(database_url) as connection:
        owners = connection.execute("SELECT count(DISTINCT owner) FROM attempts").fetchone()
    assert owners is not None
    assert owners[0] >= 1
