"""The script of a job, and what sbatch is asked for with it."""

import math
import shlex
from dataclasses import dataclass

from kernelbot.launchers.handles import check_job_id, job_name
from kernelbot.launchers.slurm.settings import SlurmDevice, SlurmSettings
from kernelbot.protocol import JobSpec

NO_FOLDER = 91
NO_HARNESS = 92
_END = "END_OF_PAYLOAD"
_PREPARE = """\
{setup}    if [ ! -d {unpacked} ]; then  # unpacked and compiled, it starts sooner
        (
            umask 022
            new=$(mktemp -d harness/new.XXXXXX) && chmod 755 "$new" &&
                {python} -m zipfile -e {harness} "$new" &&
                {python} -m compileall -q "$new" && mv -T -- "$new" {unpacked} || rm -rf -- "$new"
        )
    fi
    code={no_harness}
    tool=$PWD/{unpacked}
    [ -d "$tool" ] || tool=$PWD/{harness}
"""
_SCRIPT = """\
#!/bin/bash
# KernelBot, attempt {attempt}. Slurm's copy of this script holds what an author must not read: it
# goes first, when bash has read all of the function.
judge() {{
    rm -f -- "$0" 2>/dev/null || : > "$0"
    umask 077
    cd -- {work_dir} || exit {no_folder}
    if ! mkdir -- jobs/{attempt}; then
        [ -d jobs/{attempt} ] && exit 0  # this attempt was begun before
        exit {no_folder}
    fi
    exec > jobs/{attempt}/log 2>&1
    export HOME=~ PATH="${{PATH:-/usr/local/bin:/usr/bin:/bin}}"
{prepare}    if [ -e "$tool" ]; then
        exec 3>&2 2>/dev/null  # bash writes the line of a harness that is killed, payload and all
        {python} -I "$tool" node \\
            --payload {payload} \\
            --result jobs/{attempt}/result.json \\
            --events jobs/{attempt}/events.jsonl \\
            --gpus "${{SLURM_JOB_GPUS:-}}"{flags} 2>&3 3>&-{here}
        code=$?
        exec 2>&3 3>&-
    fi
    echo "$code" > jobs/{attempt}/exit && mv -f -- jobs/{attempt}/exit done/{attempt}
    exit "$code"
}}
judge
"""


@dataclass(frozen=True)
class SbatchRequest:
    """What goes to sbatch. `payload`: what is too long for the script, and is put into the file
    `payloads/ATTEMPT` beforehand; None: the script carries it."""

    options: tuple[str, ...]
    script: str
    payload: str | None = None


def make_submission(
    spec: JobSpec, payload: str, device: SlurmDevice, settings: SlurmSettings, harness: str
) -> SbatchRequest:
    """`harness`: the path of the harness below the work folder."""
    attempt = check_job_id(spec.job_id)
    script = _script(attempt, settings, harness, carried=payload)
    options = _options(attempt, spec, device, settings)
    if len(script) <= settings.max_script_bytes:
        return SbatchRequest(options, script)
    return SbatchRequest(options, _script(attempt, settings, harness, carried=None), payload)


def _script(attempt: str, settings: SlurmSettings, harness: str, *, carried: str | None) -> str:
    return _SCRIPT.format(
        attempt=attempt,
        work_dir=shlex.quote(settings.work_dir),
        no_folder=NO_FOLDER,
        prepare=prepare_harness(settings, harness),
        python=shlex.quote(settings.python),
        payload="-" if carried is not None else f"payloads/{attempt}",
        flags=" \\\n            --no-sandbox-ok" if settings.no_sandbox_ok else "",
        here="" if carried is None else f" <<'{_END}'\n{carried}\n{_END}",
    )


def prepare_harness(settings: SlurmSettings, harness: str) -> str:
    """The lines that leave the harness in `tool`, if it is there."""
    return _PREPARE.format(
        setup="".join(f"    {line}\n" for line in settings.setup),
        harness=shlex.quote(harness),
        unpacked=shlex.quote(harness.removesuffix(".pyz")),
        python=shlex.quote(settings.python),
        no_harness=NO_HARNESS,
    )


def _options(
    attempt: str, spec: JobSpec, device: SlurmDevice, settings: SlurmSettings
) -> tuple[str, ...]:
    minutes = math.ceil((spec.longest_s + settings.slack_s) / 60)
    return sbatch_options(job_name(attempt), attempt, minutes, device, settings)


def sbatch_options(
    name: str, comment: str, minutes: int, device: SlurmDevice, settings: SlurmSettings
) -> tuple[str, ...]:
    """What sbatch is asked for, for one job of Slurm's."""
    asked = [
        "--parsable",
        f"--job-name={name}",
        f"--comment={comment}",
        f"--chdir={settings.work_dir}",
        "--export=ALL",  # which is little, see `commands`; any less makes Slurm start a login shell
        "--input=/dev/null",
        "--output=/dev/null",
        "--error=/dev/null",
        "--no-requeue",
        "--nodes=1",
        "--ntasks=1",
        f"--time={minutes}",
    ]
    if device.partition is not None:
        asked.append(f"--partition={device.partition}")
    if device.gres is not None:
        asked.append(f"--gres={device.gres}")
    if device.reservation is not None:
        asked.append(f"--reservation={device.reservation}")
    return (*asked, *device.options)
