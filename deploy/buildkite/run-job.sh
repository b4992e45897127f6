#!/usr/bin/env bash
# One job on a Buildkite agent: starts the runner image with the agent's GPU, within the agent's limits,
# hands it the payload, and leaves result.json (and profile_data) in the current folder.
#
# The agent's unit says which GPU (CUDA_VISIBLE_DEVICES) and which limits (KERNELBOT_SLICE); the build
# brings SUBMISSION_PAYLOAD, or a link to it (SUBMISSION_PAYLOAD_URL), and may bring links for progress
# (SUBMISSION_EVENTS_URL) and to the harness. /etc/buildkite-agent/image names the image.
#
# With SUBMISSION_WARM_IDLE_S and SUBMISSION_WARM_LIMIT_S the container stays for the next job, and in it
# the harness's host, for so many seconds without a job, and in all. An agent whose unit says
# KERNELBOT_WARM=never keeps none. A job that is cancelled, or fails, takes its container along.
set -euo pipefail

fail() {
    printf 'run-job.sh: %s\n' "$1" >&2
    exit 1
}

gpu=${CUDA_VISIBLE_DEVICES:-}
[[ $gpu =~ ^[0-9]{1,3}$ ]] || fail "CUDA_VISIBLE_DEVICES must be the number of one GPU: set the agent up with setup-agent.sh."
[[ -n ${SUBMISSION_PAYLOAD:-}${SUBMISSION_PAYLOAD_URL:-} ]] || fail "the build has no SUBMISSION_PAYLOAD."
image=kernelbot-runner:latest
[[ ! -f /etc/buildkite-agent/image ]] || IFS= read -r image </etc/buildkite-agent/image

# From here on the payload is in no environment that a process of ours starts with.
payload=${SUBMISSION_PAYLOAD:-}
unset SUBMISSION_PAYLOAD

# amd_gpu NUMBER: its device file, by the driver's own order of GPUs.
amd_gpu() {
    local properties minor place=0
    while read -r properties; do
        minor=$(awk '$1 == "drm_render_minor" { print $2 }' "$properties")
        [[ ${minor:-0} != 0 ]] || continue
        if ((place++ == $1)); then
            printf '/dev/dri/renderD%s' "$minor"
            return
        fi
    done < <(find /sys/class/kfd/kfd/topology/nodes/ -name properties -path '*/nodes/*[0-9]/properties' 2>/dev/null | sort -V)
    fail "there is no AMD GPU $1 here."
}

options=()
if [[ -e /dev/nvidiactl ]]; then
    options+=(--gpus "device=$gpu")
elif [[ -e /dev/kfd ]]; then
    render=$(amd_gpu "$gpu")
    options+=(--device /dev/kfd --device "$render")
else
    fail "there is no GPU here: neither /dev/nvidiactl nor /dev/kfd."
fi
# The limits are those of the whole agent, its jobs' containers included.
[[ -z ${KERNELBOT_SLICE:-} ]] || options+=(--cgroup-parent "$KERNELBOT_SLICE")
# The sandbox, with a filter of its own, is the boundary to the author's code. To be made, it takes
# mounts and pivot_root (SYS_ADMIN; Docker's AppArmor profile and filter forbid them all the same) and
# a whole /proc; the judge reads outputs out of a runner's memory (SYS_PTRACE).
options+=(--cap-add SYS_ADMIN --cap-add SYS_PTRACE --cgroupns private)
options+=(--security-opt apparmor=unconfined --security-opt seccomp=unconfined)
options+=(--security-opt systempaths=unconfined)

# Links and the attempt's id go in by their variables' names: the values are on no command line.
given=()
for name in SUBMISSION_ATTEMPT SUBMISSION_{PAYLOAD,EVENTS,HARNESS}_URL SUBMISSION_HARNESS_SHA256 \
    SUBMISSION_WARM_{IDLE,LIMIT}_S; do
    [[ -z ${!name:-} ]] || given+=(--env "$name")
done

# One job at a time runs on a GPU; what is left of one that was killed goes first.
name=kernelbot-gpu$gpu
remove() {
    # A client that hasn't made its container yet must not make it after this.
    jobs -p | xargs --no-run-if-empty kill -KILL 2>/dev/null || :
    docker rm --force "$name" >/dev/null 2>&1 || :
}
trap remove EXIT
trap 'exit 143' TERM INT
rm -rf result.json profile_data

# judge COMMAND...: hands it the payload; sets code.
judge() {
    code=0
    "$@" < <(printf '%s' "$payload") &
    wait $! || code=$?
}

judge_cold() {
    remove
    judge docker run --interactive --name "$name" "${options[@]}" "${given[@]}" "$image"
}

# What a container is made for, if it may stay: the image, how it is started, and the times.
made_for() {
    local idle=${SUBMISSION_WARM_IDLE_S:-} limit=${SUBMISSION_WARM_LIMIT_S:-} found
    [[ $idle =~ ^[1-9][0-9]{0,6}$ && $limit =~ ^[1-9][0-9]{0,6}$ ]] || return 1
    [[ ${KERNELBOT_WARM:-} != never ]] || return 1
    found=$(docker image inspect --format '{{.Id}} {{index .Config.Labels "kernelbot.serves"}}' "$image" 2>/dev/null) || return 1
    [[ $found == *" jobs-in-turn" ]] || return 1 # an older image takes one job
    printf '%s %s %s %s' "$found" "$idle" "$limit" "${options[*]}" | sha256sum | cut -d ' ' -f 1
}

# Whether the container of the jobs before takes this one.
stays() {
    local found until
    found=$(docker container inspect --format '{{.State.Running}} {{index .Config.Labels "kernelbot.made-for"}} {{index .Config.Labels "kernelbot.until"}}' "$name" 2>/dev/null) || return 1
    until=${found##* }
    [[ $found == "true $1 "* && $until =~ ^[0-9]+$ ]] && ((EPOCHSECONDS < until))
}

# Its first process only waits, for longer than the last job may take: until the limit of its step, which
# Buildkite tells in minutes, and "false" if there is none.
start_to_stay() {
    local limit=$SUBMISSION_WARM_LIMIT_S step=${BUILDKITE_TIMEOUT:-60}
    [[ $step =~ ^[1-9][0-9]{0,5}$ ]] || step=1440
    remove
    docker run --detach --init --name "$name" "${options[@]}" --label "kernelbot.made-for=$1" \
        --label "kernelbot.until=$((EPOCHSECONDS + limit))" --entrypoint /opt/kernelbot/in-own-cgroup \
        "$image" sleep "$((limit + 60 * step + 600))" >/dev/null
}

judge_warm() {
    judge docker exec --interactive "${given[@]}" "$name" /opt/kernelbot/judge-payload
}

busy=75
if wanted=$(made_for); then
    stays "$wanted" || start_to_stay "$wanted"
    judge_warm
    if ((code == busy)); then # with a job whose agent was killed: its container goes with it
        start_to_stay "$wanted"
        judge_warm
    fi
else
    unset SUBMISSION_WARM_IDLE_S SUBMISSION_WARM_LIMIT_S
    judge_cold
fi
# In a container that stays, these ends alone say that the files aren't those of the job before.
[[ -n $wanted && $code != [023] ]] || docker cp --quiet "$name:/out/." . 2>/dev/null || :
[[ -f result.json ]] || fail "the image wrote no result (exit code $code)."
[[ -z $wanted || $code != 0 ]] || trap - EXIT
exit "$code"
