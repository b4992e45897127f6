"""What a pod's two containers do."""

GIVEN_FOLDER = "/kernelbot/secret"
"""Where the first container finds what the Secret holds."""
JOB_FOLDER = "/kernelbot/job"
"""Where both containers have the same, in memory: it is removed as it is read."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108  # a pod's own
END_FILE = "/dev/termination-log"
"""What is written here stands in the pod's status."""
IMAGE_FOLDER = "/opt/kernelbot"
"""Where the runner's image has our programs: see `deploy/runner/`."""
PAYLOAD = "payload"
VARIABLES = (
    "SUBMISSION_PAYLOAD_URL",
    "SUBMISSION_EVENTS_URL",
    "SUBMISSION_HARNESS_URL",
    "SUBMISSION_HARNESS_SHA256",
)
"""Files of the Secret that become variables of `judge-payload`."""

DELIVER = f"umask 077 && cp -L {GIVEN_FOLDER}/* {JOB_FOLDER}/"

JUDGE = f"""\
umask 077
exec 3>&1 >log 2>&1
for name in {" ".join(VARIABLES)}; do
    file={JOB_FOLDER}/$name
    [ ! -f "$file" ] || export "$name=$(cat "$file")"
    rm -f "$file"
done
exec 4</dev/null
[ ! -f {JOB_FOLDER}/{PAYLOAD} ] || exec 4<{JOB_FOLDER}/{PAYLOAD}
rm -f {JOB_FOLDER}/{PAYLOAD}
code=0
{IMAGE_FOLDER}/in-own-cgroup {IMAGE_FOLDER}/judge-payload <&4 3>&- 4<&- || code=$?
exec 4<&-
if [ -s result.json ] && python3 -I -m zipfile -c result.zip result.json; then
    base64 -w 4000 result.zip >&3
    sum=$(sha256sum <result.zip | cut -d ' ' -f 1)
    printf 'result %s %s' "$(wc -c <result.zip)" "$sum" >{END_FILE}
    exit 0
fi
{{
    printf 'exit code %s: ' "$code"
    tail -c 1000 log
}} >{END_FILE}
exit 1
"""
"""The log is for the result alone: what the harness says goes into a file, of which the end stands
in the pod's status if there is no result."""
