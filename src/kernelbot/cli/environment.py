"""`env serve`: the judge as an environment for programs that learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import DeviceOption

_RULE = "A reward's rule: correct, tests, speed or log_speed."
_PAYMENT = (
    "each: every attempt has its own reward; gain: what it added to the best; end: the last "
    "attempt has the best."
)
_HELD_OUT = (
    "What decides the last reward and is never shown. data: a secret seed; workloads: a third of "
    "the cases as well; nothing."
)

_HELD_OUT_SEED = (
    "Decides what is held out; a secret. Default: drawn at each start, and written beside the "
    "records."
)
_CLUSTER = "Judge on this Ray cluster: its client server. --device is then one of its nodes'."
_ALLOW_HOST = "A name, such as a proxy's, that browsers may ask by; several may be given."


def register(app: Commands) -> None:
    """Add the commands."""
    env = Commands("The judge as an environment: OpenEnv.")
    env.command(
        "serve",
        epilog=examples(
            "kernelbot env serve examples/sort_np",
            "kernelbot env serve examples --reward correct --attempts 8 --record episodes",
            "kernelbot env serve git+https://git.example/kernels.git@v1#problems --test-share 0.2",
            "kernelbot env serve --suite kernelbench KernelBench/level1 --device H100",
            "kernelbot env serve examples --cluster ray://10.0.0.1:10001 --device H100",
        ),
    )(serve)
    app.add(env, "env")


def serve(
    problems: Annotated[
        list[str], Argument(help="Problems' folders, folders of them, or git+URL@REF#FOLDER.")
    ],
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    allow_host: Annotated[list[str] | None, Option(help=_ALLOW_HOST, show_default=False)] = None,
    name: Annotated[
        str, Option(help="The environment's, in the paths of its tasks.")
    ] = "kernelbot",
    sessions: Annotated[int, Option(min=1, help="At most so many at once.")] = 100,
    idle: Annotated[float, Option(help="A session ends that was idle for so long, s.")] = 600,
    attempts: Annotated[int, Option(min=1, help="Of each episode.")] = 4,
    reward: Annotated[str, Option(help=_RULE)] = "speed",
    accepted: Annotated[
        float, Option(help="Added by speed and log_speed for what was accepted.")
    ] = 0.0,
    most_speed: Annotated[float, Option(help="A larger speed counts as this one.")] = 100.0,
    pay: Annotated[str, Option(metavar="<each|gain|end>", help=_PAYMENT)] = "end",
    held_out: Annotated[str, Option(metavar="<data|workloads|nothing>", help=_HELD_OUT)] = "data",
    held_out_seed: Annotated[
        int | None,
        Option(min=0, envvar="KERNELBOT_HELD_OUT_SEED", help=_HELD_OUT_SEED, show_default=False),
    ] = None,
    test_share: Annotated[
        float, Option(min=0, max=1, help="About this share of the tasks is split `test`.")
    ] = 0.0,
    split_seed: Annotated[int, Option(help="Decides which.")] = 0,
    suite: Annotated[
        str | None,
        Option(
            help="The problems are files of this suite: see `problem import`.", show_default=False
        ),
    ] = None,
    device: DeviceOption = None,
    cluster: Annotated[
        str | None, Option(metavar="ray://HOST:PORT", help=_CLUSTER, show_default=False)
    ] = None,
    slots: Annotated[
        int | None,
        Option(
            min=1,
            help="So many sources at once. Default: one a processor, or what a cluster takes.",
            show_default=False,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        Option(help="Write each episode into this folder, as Parquet.", show_default=False),
    ] = None,
) -> None:
    """Serve problems as tasks to programs that learn, by OpenEnv's protocol, until Ctrl-C.

    An action is a source, an observation the report on it. There is no database, and no login:
    whoever reaches the port may have sources judged in the sandbox.
    """
    require_extra("openenv")
    from kernelbot.cli.terminal import Terminal
    from kernelbot.environment import serving
    from kernelbot.environment.finding import find_problems
    from kernelbot.environment.held_out import HeldOutSecret
    from kernelbot.environment.settings import (
        EpisodeRules,
        SessionLimits,
        held_out_of,
        payment_of,
        reward_rule,
    )
    from kernelbot.environment.tasks import Division

    rules = EpisodeRules(
        reward=reward_rule(reward, accepted=accepted, most_speed=most_speed),
        payment=payment_of(pay),
        held_out=held_out_of(held_out),
        attempts=attempts,
        device=device,
    )
    secret = HeldOutSecret() if held_out_seed is None else HeldOutSecret(held_out_seed)
    address = serving.ServerAddress(host, port, tuple(allow_host or ()))
    terminal = Terminal(False)
    found = find_problems(problems, suite)

    def refuse(complaint: str) -> None:
        terminal.progress(f"No task: {complaint}")

    for complaint in found.refused:
        refuse(complaint)
    environment = serving.Environment(
        name=name,
        problems=found.problems,
        division=Division(test_share, split_seed),
        rules=rules,
        limits=SessionLimits(sessions, idle),
        slots=slots,
        record=record,
        secret=secret,
        cluster=cluster,
    )
    serving.serve(environment, address, on_refusal=refuse, on_ready=terminal.show)
