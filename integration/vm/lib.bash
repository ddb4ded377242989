# shellcheck shell=bash
# A job brings a command into a guest, and its output and status back. The directory $JOB/shared is /run/vm in the guest. Its files:
#
#   command, directory, environment   the command, its working directory and its variables
#   as-user, enforce                  if they exist: run the command as `tester`; switch SELinux to enforcing
#   shares                            the host's directories to mount: TAG ro|overlay PATH
#   stdout, stderr                    the command's output, while it runs
#   booted, status                    the guest's uptime when the command began; the command's exit status

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

die() {
  echo "$(basename "$0"): $*" >&2
  exit 125
}

# job_begin COMMAND…: makes $JOB and shares the build tree. The guest's writes to the tree go to an overlay and never reach the host, or
# fail if $tree_mode is "ro".
job_begin() {
  JOB=$(mktemp -d)
  mkdir "$JOB/shared"
  chmod 755 "$JOB" "$JOB/shared"
  printf '%q ' "$@" >"$JOB/shared/command"
  pwd >"$JOB/shared/directory"
  : >"$JOB/shared/stdout"
  : >"$JOB/shared/stderr"
  : >"$JOB/shared/environment"
  : >"$JOB/shared/shares"
  job_share "${tree_mode:-overlay}" "$REPO"
  job_share_spec
  job_pass_environment
}

job_share() {
  local tag
  [[ $2 != *[[:space:]]* ]] || die "the path \"$2\" cannot be shared: it holds a blank"
  tag=share$(wc -l <"$JOB/shared/shares")
  echo "$tag $1 $2" >>"$JOB/shared/shares"
}

# Shares the specification's documents, if they lie outside of the build tree.
job_share_spec() {
  local path
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || return 0
  path=$(readlink -f "$OCIRUN_SPEC_DIR")
  [[ $path == "$REPO"/* ]] || job_share ro "$path"
}

# Passes on the variables that the tests read.
job_pass_environment() {
  local name
  for name in $(compgen -e | grep -E '^(OCIRUN(_[A-Z_]+)?|BATS_TEST_TIMEOUT)$'); do job_set "$name" "${!name}"; done
}

job_set() { printf 'export %s=%q\n' "$1" "$2" >>"$JOB/shared/environment"; }

# job_show_output PID: copies the command's output to stdout and stderr in the background, until the process PID ends.
job_show_output() {
  tail -n +1 -s 0.1 -f --pid="$1" "$JOB/shared/stdout" &
  tail -n +1 -s 0.1 -f --pid="$1" "$JOB/shared/stderr" >&2 &
}

# job_status LOG…: returns the command's status. If the guest died without one, returns 125 and shows the end of the logs.
job_status() {
  if [[ -s $JOB/shared/status ]]; then return "$(<"$JOB/shared/status")"; fi
  echo "$(basename "$0"): the guest ended without a status; the end of its logs:" >&2
  tail -n 25 "$@" >&2
  return 125
}
