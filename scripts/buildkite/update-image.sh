#!/usr/bin/env bash
# Pulls the image that jobs run in, or builds it, says its digest, and restarts those agents of this
# machine that have no job. An agent that has one goes on undisturbed: its next job runs in the new
# image all the same.
#
#   sudo ./scripts/buildkite/update-image.sh [--auto] [--build VARIANT] [--dry-run]
#
# --auto           ask nothing, for a timer; say nothing if the image was the newest already
# --build VARIANT  build it from this checkout, for the GPUs of this machine: cuda, rocm or cpu
# --dry-run        show every command, change nothing; needs no root
#
# The image's name stands in /etc/buildkite-agent/image, one line; without that file it is
# kernelbot-runner:latest. Exit codes: 0 done; 1 the image can't be had; 2 bad arguments.
set -euo pipefail
# shellcheck source=scripts/buildkite/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

USAGE="usage: update-image.sh [--auto] [--build cuda|rocm|cpu] [--dry-run]"
CHECKOUT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
AUTO=false
VARIANT=

read_arguments() {
    while (($#)); do
        case $1 in
            --auto) AUTO=true ;;
            --build)
                VARIANT=${2:-}
                [[ $VARIANT =~ ^(cuda|rocm|cpu)$ ]] ||
                    refuse "--build needs cuda, rocm or cpu, not $(quoted "$VARIANT"). $USAGE"
                shift
                ;;
            --dry-run) DRY_RUN=true ;;
            -h | --help) show_help ;;
            *) refuse "there is no argument $(quoted "$1"). $USAGE" ;;
        esac
        shift
    done
}

read_image() {
    image=$DEFAULT_IMAGE
    local file=$DESTDIR$CONFIG/image
    if [[ -f $file ]]; then
        IFS= read -r image <"$file" || [[ -n $image ]] || fail "$CONFIG/image is empty: write the image's name into it."
    fi
    [[ $image =~ ^[a-z0-9][A-Za-z0-9._:/@-]{0,254}$ ]] ||
        fail "$CONFIG/image names $(quoted "$image"), which is no image."
    [[ -z $VARIANT || $image != *@* ]] ||
        fail "$CONFIG/image names $image by its digest: that one can only be pulled."
}

# How the image is had, as `get` and its arguments.
choose_way() {
    if [[ -n $VARIANT ]]; then
        verb=Build done=Built
        get=(docker build --pull --quiet --file "$CHECKOUT/deploy/runner/Dockerfile"
            --build-arg "VARIANT=$VARIANT" --tag "$image" "$CHECKOUT")
    else
        verb=Pull done=Pulled
        get=(docker pull --quiet "$image")
    fi
}

ask_whether_to_go_on() {
    local answer
    [[ -t 0 ]] || refuse "nobody can be asked here: use --auto."
    read -r -p "$verb $image and restart the agents that have no job? [y/N] " answer
    [[ $answer == [yY] ]] || fail "nothing was changed."
}

image_id() {
    docker image inspect --format '{{.Id}}' "$image" 2>/dev/null || :
}

# As others can pull it; of one that was never in a registry, what it is known by here.
image_digest() {
    docker image inspect \
        --format '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}' "$image"
}

# An agent runs each job in a child of its own.
has_job() {
    local agent
    agent=$(systemctl show --property=MainPID --value "$1")
    [[ $agent =~ ^[1-9][0-9]*$ ]] && pgrep --parent "$agent" >/dev/null
}

# SIGTERM to the agent alone: a job that has begun meanwhile is finished first, and systemd starts
# the agent again.
restart_agent() {
    run systemctl kill --kill-who=main --signal=SIGTERM "$1"
}

restart_idle_agents() {
    local unit units
    units=$(systemctl list-units --type=service --state=active --no-legend --plain 'buildkite-agent-gpu*.service')
    while read -r unit _; do
        [[ -n $unit ]] || continue
        if has_job "$unit"; then
            printf '%s has a job and was left alone.\n' "$unit"
        else
            restart_agent "$unit"
            printf '%s was restarted.\n' "$unit"
        fi
    done <<<"$units"
}

read_arguments "$@"
read_image
choose_way
if $DRY_RUN; then
    run "${get[@]}"
    printf 'would run, for each buildkite-agent-gpu*.service that has no job:\n'
    restart_agent UNIT
    exit 0
fi
require_root
require_commands docker systemctl pgrep
$AUTO || ask_whether_to_go_on
before=$(image_id)
"${get[@]}" >/dev/null || fail "$image can't be ${done,,}; the agents go on with what they have."
if [[ $(image_id) == "$before" ]]; then
    $AUTO || printf '%s was the newest already: %s\n' "$image" "$(image_digest)"
    exit 0
fi
printf '%s %s: %s\n' "$done" "$image" "$(image_digest)"
restart_idle_agents
# The image before has lost its name and takes gigabytes; a job that still runs in it keeps it.
[[ -z $before ]] || docker image rm "$before" >/dev/null 2>&1 || :
