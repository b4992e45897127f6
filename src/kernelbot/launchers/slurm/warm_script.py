"""The script of a warm node: one job of Slurm's, in which one of ours after the other is judged."""

import hashlib
import math
import shlex
from dataclasses import dataclass

from kernelbot.launchers.slurm.script import NO_FOLDER, prepare_harness, sbatch_options
from kernelbot.launchers.slurm.settings import SlurmDevice, SlurmSettings

_NAME = "kernelbot-warm-"
_END_S = 30
"""What a node leaves unused: for its own end, and for clocks that differ."""
ASK_LEFT = (
    'case "$(sinfo --noheader --nodes="$SLURMD_NODENAME" --format=%T)" in '
    "*drain*|*down*|*fail*|*maint*|*reboot*) echo 0; exit;; esac; "
    'shown=$(SLURM_TIME_FORMAT=%s squeue --noheader --jobs="$SLURM_JOB_ID" --format="%T %e" 2>&1); '
    'case "$?:$shown" in "0:RUNNING "*) ;; 0:*|*"Invalid job id"*) echo 0; exit;; *) exit;; esac; '
    f"echo $((${{shown#* }} - $(date +%s) - {_END_S}))"
)
"""Nothing for a node that is to be drained, or that Slurm has ended and not all of which is gone,
else what Slurm leaves it, even if somebody has changed that; no number if Slurm can't be asked."""
_SCRIPT = """\
#!/bin/bash
# KernelBot, a node that judges jobs in turn.
umask 077
cd -- {work_dir} || exit {no_folder}
me=$SLURM_JOB_ID
mkdir -p nodes && exec > "nodes/$me" 2>&1
export HOME=~ PATH="${{PATH:-/usr/local/bin:/usr/bin:/bin}}"
code=
mine() {{ ls -d jobs/*/node."$me" 2>/dev/null; }}
finish() {{
    code=${{code:-$?}}
    trap - EXIT
    # A node that can't judge takes one job with it: else it would be replaced for ever. One that is
    # ended by a signal is no such node.
    if [ "$code" != 0 ] && [ "$code" -lt 128 ] && [ -z "$(mine)" ]; then
        for found in waiting/{needs}-*; do
            job=${{found#*-*-}}
            mv -T -- "$found" "jobs/$job" 2>/dev/null && : > "jobs/$job/node.$me" && break
        done
    fi
    for mark in $(mine); do
        job=${{mark#jobs/}}
        job=${{job%/*}}
        rm -f -- "jobs/$job/jobspec.json"
        [ -e "done/$job" ] && continue
        tail -c 400 -- "nodes/$me" >> "jobs/$job/log"
        echo "$code" > "jobs/$job/exit" && mv -f -- "jobs/$job/exit" "done/$job"
    done
    rm -rf -- "nodes/$me.builds"  # of this machine's processor and compilers
    [ "$code" = 0 ] && rm -f -- "nodes/$me"
    exit "$code"
}}
trap finish EXIT
serve() {{
{prepare}    if [ -e "$tool" ]; then
        {python} -I "$tool" host --jobs . --needs {needs} --node "$me" \\
            --idle-s {idle_s:g} --limit-s $(({limit_s} - SECONDS)) \\
            --ask-left {ask_left} \\
            --build-cache "$PWD/nodes/$me.builds" \\
            --gpus "${{SLURM_JOB_GPUS:-}}" < /dev/null
        code=$?
    fi
}}
serve
"""


@dataclass(frozen=True)
class WarmNode:
    """What sbatch is given for a node."""

    options: tuple[str, ...]
    script: str


def needs_of(device: SlurmDevice, settings: SlurmSettings, harness: str) -> str:
    """What has to be alike for a node to take a job, as a word."""
    made = make_node("", 0, device, settings, harness)
    return hashlib.sha256(repr(made).encode()).hexdigest()[:16]


def node_name(needs: str) -> str:
    """By which Slurm shows nodes for such jobs."""
    return _NAME + needs


def is_node(name: str) -> bool:
    """Whether a job of Slurm's is a warm node."""
    return name.startswith(_NAME)


def make_node(
    needs: str, limit_s: int, device: SlurmDevice, settings: SlurmSettings, harness: str
) -> WarmNode:
    """A node for a job of such a time limit, and more jobs if it may live for longer. It may take
    `slack_s` to get ready."""
    lives_s = math.ceil(max(settings.warm_limit_s, limit_s) + settings.slack_s)
    minutes = math.ceil(lives_s / 60)
    script = _SCRIPT.format(
        work_dir=shlex.quote(settings.work_dir),
        no_folder=NO_FOLDER,
        needs=needs,
        prepare=prepare_harness(settings, harness),
        python=shlex.quote(settings.python),
        idle_s=settings.warm_idle_s,
        limit_s=lives_s - _END_S,
        ask_left=shlex.quote(ASK_LEFT),
    )
    options = sbatch_options(node_name(needs), needs, minutes, device, settings)
    return WarmNode(options, script)
