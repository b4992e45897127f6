#!/usr/bin/env bash
# Makes one Buildkite agent for one GPU of this machine, with memory and processors of its own.
# Safe to run again: what is as it should be stays, and a job that runs is never interrupted.
#
#   sudo ./scripts/buildkite/setup-agent.sh [--dry-run] GPU_INDEX QUEUE_NAME [MEMORY_LIMIT=32G] [CPU_CORES=16]
#
# GPU_INDEX     the GPU's number as nvidia-smi or rocm-smi shows it
# QUEUE_NAME    {vendor}-{gpu_type}-{index}, such as nvidia-h100-0: what jobs are sent to
# MEMORY_LIMIT  of the agent and its jobs together: a number and M, G or T
# CPU_CORES     how many processors' time they may use together
# --dry-run     show every file and command, change nothing; needs no root
#
# It reads the agent token from /etc/buildkite-agent/token. Exit codes: 0 done; 1 the machine isn't as
# it must be; 2 bad arguments.
set -euo pipefail
# shellcheck source=scripts/buildkite/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

AGENT_USER=buildkite-agent
USAGE="usage: setup-agent.sh [--dry-run] GPU_INDEX QUEUE_NAME [MEMORY_LIMIT=32G] [CPU_CORES=16]"

read_arguments() {
    local positional=() argument
    for argument in "$@"; do
        case $argument in
            --dry-run) DRY_RUN=true ;;
            -h | --help) show_help ;;
            --*) refuse "there is no option $(quoted "$argument"). $USAGE" ;;
            *) positional+=("$argument") ;;
        esac
    done
    ((${#positional[@]} >= 2 && ${#positional[@]} <= 4)) || refuse "$USAGE"
    gpu=${positional[0]}
    queue=${positional[1]}
    memory=${positional[2]:-32G}
    cores=${positional[3]:-16}
}

check_arguments() {
    [[ $gpu =~ ^(0|[1-9][0-9]{0,2})$ ]] ||
        refuse "GPU_INDEX must be a number from 0 to 999, not $(quoted "$gpu")."
    [[ $queue =~ ^[a-z][a-z0-9]{0,31}-[a-z0-9]{1,32}-(0|[1-9][0-9]{0,3})$ ]] ||
        refuse "QUEUE_NAME must be {vendor}-{gpu_type}-{index} in small letters and digits, such as nvidia-h100-0, not $(quoted "$queue")."
    [[ $memory =~ ^[1-9][0-9]{0,5}[MGT]$ ]] ||
        refuse "MEMORY_LIMIT must be a number with M, G or T behind it, such as 32G, not $(quoted "$memory")."
    [[ $cores =~ ^[1-9][0-9]{0,3}$ ]] ||
        refuse "CPU_CORES must be a number from 1 to 9999, not $(quoted "$cores")."
}

# The token goes into the agent's configuration and nowhere else; it is never printed.
read_token() {
    local file=$DESTDIR$CONFIG/token
    if $DRY_RUN; then
        token="(what stands in $CONFIG/token)"
        return
    fi
    [[ -f $file ]] || fail "$CONFIG/token isn't there: write the agent token into it, readable by root alone."
    chmod 0600 "$file"
    IFS= read -r token <"$file" || [[ -n $token ]] || fail "$CONFIG/token is empty: write the agent token into it."
    [[ $token =~ ^[A-Za-z0-9._~+/=-]+$ ]] ||
        fail "$CONFIG/token doesn't hold a token alone: one line of letters, digits and ._~+/=- is expected."
}

check_machine() {
    require_root
    require_commands systemctl docker buildkite-agent
    [[ -n $DESTDIR ]] || id "$AGENT_USER" >/dev/null 2>&1 ||
        fail "there is no account $AGENT_USER: install Buildkite's package of the agent, which makes it."
    if command -v nvidia-smi >/dev/null && ! nvidia-smi --id="$gpu" --query-gpu=name --format=csv,noheader >/dev/null; then
        fail "nvidia-smi finds no GPU $gpu here."
    fi
}

# With no-command-eval jobs can start scripts of the checkout only, and plugins of nobody.
agent_configuration() {
    cat <<END
name="%hostname-gpu-$gpu"
tags="queue=$queue,gpu-index=$gpu"
token="$token"
build-path="/var/lib/buildkite-agent/agent-$gpu/builds"
hooks-path="$CONFIG/agent-$gpu/hooks"
no-command-eval=true
no-local-hooks=true
no-plugins=true
END
}

agent_unit() {
    cat <<END
[Unit]
Description=Buildkite agent of GPU $gpu, queue $queue
After=network-online.target docker.service
Wants=network-online.target docker.service

[Service]
User=$AGENT_USER
Slice=buildkite-gpu$gpu.slice
Environment=CUDA_VISIBLE_DEVICES=$gpu
Environment=CUDA_DEVICE_ORDER=PCI_BUS_ID
Environment=ROCR_VISIBLE_DEVICES=$gpu
Environment=KERNELBOT_SLICE=buildkite-gpu$gpu.slice
ExecStart=$agent_program start --config $CONFIG/agent-$gpu/buildkite-agent.cfg
Restart=always
RestartSec=5
# On SIGTERM an agent takes no more jobs, finishes the one that it has, and ends.
KillMode=mixed
TimeoutStopSec=3600
# A container that waits for the agent's next job.
ExecStopPost=-/usr/bin/docker rm --force kernelbot-gpu$gpu

[Install]
WantedBy=multi-user.target
END
}

agent_slice() {
    cat <<END
[Unit]
Description=Limits of GPU $gpu's Buildkite agent and of the containers of its jobs

[Slice]
MemoryMax=$memory
MemorySwapMax=0
CPUQuota=$((cores * 100))%
END
}

write_files() {
    make_folder "$CONFIG/agent-$gpu" 0755 root:root
    make_folder "$CONFIG/agent-$gpu/hooks" 0755 root:root
    make_folder "/var/lib/buildkite-agent/agent-$gpu" 0755 "$AGENT_USER:$AGENT_USER"
    make_folder "/var/lib/buildkite-agent/agent-$gpu/builds" 0755 "$AGENT_USER:$AGENT_USER"
    write_file "$CONFIG/agent-$gpu/buildkite-agent.cfg" 0600 "$AGENT_USER:$AGENT_USER" < <(agent_configuration)
    write_file "$UNITS/$unit" 0644 root:root < <(agent_unit)
    write_file "$UNITS/buildkite-gpu$gpu.slice" 0644 root:root < <(agent_slice)
}

start_agent() {
    run usermod --append --groups docker "$AGENT_USER"
    run systemctl daemon-reload
    run systemctl enable --quiet "$unit"
    if $DRY_RUN || $CHANGED; then
        run systemctl restart --no-block "$unit"
    else
        run systemctl start --no-block "$unit"
    fi
}

read_arguments "$@"
check_arguments
unit=buildkite-agent-gpu$gpu.service
agent_program=/usr/bin/buildkite-agent
$DRY_RUN || check_machine
read_token
write_files
start_agent
$DRY_RUN || printf 'The agent of GPU %s listens to the queue %s: see systemctl status %s\n' "$gpu" "$queue" "$unit"
