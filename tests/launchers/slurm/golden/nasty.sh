# sbatch --parsable --job-name=kernelbot-12.1.0123456789ab --comment=12.1.0123456789ab '--chdir=/scratch/kernel bot'"'"'s $(id)' --export=ALL --input=/dev/null --output=/dev/null --error=/dev/null --no-requeue --nodes=1 --ntasks=1 --time=13 --partition=gpu --gres=gpu:h100:1 --account=kernels --cpus-per-task=8
#!/bin/bash
# KernelBot, attempt 12.1.0123456789ab. Slurm's copy of this script holds what an author must not read: it
# goes first, when bash has read all of the function.
judge() {
    rm -f -- "$0" 2>/dev/null || : > "$0"
    umask 077
    cd -- '/scratch/kernel bot'"'"'s $(id)' || exit 91
    if ! mkdir -- jobs/12.1.0123456789ab; then
        [ -d jobs/12.1.0123456789ab ] && exit 0  # this attempt was begun before
        exit 91
    fi
    exec > jobs/12.1.0123456789ab/log 2>&1
    export HOME=~ PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}"
    . /etc/profile
    module load cuda/12.4
    if [ ! -d harness/0123456789abcdef ]; then  # unpacked and compiled, it starts sooner
        (
            umask 022
            new=$(mktemp -d harness/new.XXXXXX) && chmod 755 "$new" &&
                '/opt/python 3.12/bin/python3' -m zipfile -e harness/0123456789abcdef.pyz "$new" &&
                '/opt/python 3.12/bin/python3' -m compileall -q "$new" && mv -T -- "$new" harness/0123456789abcdef || rm -rf -- "$new"
        )
    fi
    code=92
    tool=$PWD/harness/0123456789abcdef
    [ -d "$tool" ] || tool=$PWD/harness/0123456789abcdef.pyz
    if [ -e "$tool" ]; then
        exec 3>&2 2>/dev/null  # bash writes the line of a harness that is killed, payload and all
        '/opt/python 3.12/bin/python3' -I "$tool" node \
            --payload - \
            --result jobs/12.1.0123456789ab/result.json \
            --events jobs/12.1.0123456789ab/events.jsonl \
            --gpus "${SLURM_JOB_GPUS:-}" \
            --no-sandbox-ok 2>&3 3>&- <<'END_OF_PAYLOAD'
eJwrzs9NBQAFsgH7
END_OF_PAYLOAD
        code=$?
        exec 2>&3 3>&-
    fi
    echo "$code" > jobs/12.1.0123456789ab/exit && mv -f -- jobs/12.1.0123456789ab/exit done/12.1.0123456789ab
    exit "$code"
}
judge
