# What setup-agent.sh and update-image.sh share. Sourced, never run.
# shellcheck shell=bash
#
# DESTDIR, if it is set, is put before the path of every file that is read or written, and nothing
# asks for root then: for trying the scripts without touching the machine.
#
# shellcheck disable=SC2034  # for the whole file: those that source it use the variables

export LC_ALL=C  # what [a-z] means must not depend on where it runs
CONFIG=/etc/buildkite-agent
UNITS=/etc/systemd/system
DEFAULT_IMAGE=kernelbot-runner:latest
DESTDIR=${DESTDIR:-}
DRY_RUN=false
CHANGED=false

# refuse SENTENCE: bad arguments; exit code 2, nothing was changed.
refuse() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 2
}

# fail SENTENCE: the machine isn't as it must be; exit code 1.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# quoted TEXT: fit to be shown, with control characters written out.
quoted() {
    printf '%q' "$1"
}

# show_help: the comment at the top of the script.
show_help() {
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
}

require_root() {
    if [[ -z $DESTDIR && $(id -u) != 0 ]]; then
        fail "it needs root: run it with sudo, or with --dry-run to see what it would do."
    fi
}

require_commands() {
    local command
    for command in "$@"; do
        command -v "$command" >/dev/null || fail "$command is missing: install it first."
    done
}

# run COMMAND...: run it, or only show it.
run() {
    if $DRY_RUN; then
        printf 'would run:%s\n' "$(printf ' %q' "$@")"
    else
        "$@"
    fi
}

# make_folder PATH MODE OWNER
make_folder() {
    if $DRY_RUN; then
        printf 'would make %s (mode %s, %s)\n' "$1" "$2" "$3"
        return
    fi
    mkdir -p "$DESTDIR$1"
    chmod "$2" "$DESTDIR$1"
    [[ -n $DESTDIR ]] || chown "$3" "$1"
}

# write_file PATH MODE OWNER: stdin becomes the file, whole or not at all; nobody else can read it
# before its mode is right. Sets CHANGED unless it was like that before.
write_file() {
    local content target=$DESTDIR$1 partial
    content=$(cat)
    if $DRY_RUN; then
        printf 'would write %s (mode %s, %s):\n' "$1" "$2" "$3"
        sed '/./s/^/    /' <<<"$content"
        return
    fi
    if ! cmp -s "$target" - <<<"$content"; then
        partial=$(umask 077 && mktemp "$target.XXXXXX")
        cat >"$partial" <<<"$content"
        chmod "$2" "$partial"
        [[ -n $DESTDIR ]] || chown "$3" "$partial"
        mv -fT "$partial" "$target"
        CHANGED=true
        printf 'wrote %s\n' "$1"
    fi
    chmod "$2" "$target"
    [[ -n $DESTDIR ]] || chown "$3" "$target"
}
