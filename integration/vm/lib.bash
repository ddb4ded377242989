# shellcheck shell=bash
# A job: how a command goes into a guest, and how its output and status come back. The guest sees the
# directory $JOB/shared as /run/vm:
#
#   command, directory, environment   what to run, where, with which variables; as-user when that is there
#   shares                            the host's directories to mount: TAG ro|overlay PATH
#   stdout, stderr                    grow while the command runs
#   booted, status                    when the command began; how it ended

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

die() {
  echo "$(basename "$0"): $*" >&2
  exit 125
}

# job_begin COMMAND…: makes $JOB. The build tree is shared: the guest may write there, but the host sees none of it.
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
  job_share overlay "$REPO"
  job_share_spec
  job_pass_environment
}

job_share() {
  local tag
  [[ $2 != *[[:space:]]* ]] || die "the path \"$2\" cannot be shared: it holds a blank"
  tag=share$(wc -l <"$JOB/shared/shares")
  echo "$tag $1 $2" >>"$JOB/shared/shares"
}

# The specification's documents lie outside of the build tree.
job_share_spec() {
  local path
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || return 0
  path=$(readlink -f "$OCIRUN_SPEC_DIR")
  [[ $path == "$REPO"/* ]] || job_share ro "$path"
}

# What the tests read.
job_pass_environment() {
  local name
  for name in $(compgen -e | grep -E '^(OCIRUN(_[A-Z_]+)?|BATS_TEST_TIMEOUT)$'); do job_set "$name" "${!name}"; done
}

job_set() { printf 'export %s=%q\n' "$1" "$2" >>"$JOB/shared/environment"; }

# job_show_output PID: until that process ends.
job_show_output() {
  tail -n +1 -s 0.1 -f --pid="$1" "$JOB/shared/stdout" &
  tail -n +1 -s 0.1 -f --pid="$1" "$JOB/shared/stderr" >&2 &
}

# job_status LOG…: the command's; 125 with the last lines of the logs when the guest died before it could tell.
job_status() {
  if [[ -s $JOB/shared/status ]]; then return "$(<"$JOB/shared/status")"; fi
  echo "$(basename "$0"): the guest ended without a status; its last words:" >&2
  tail -n 25 "$@" >&2
  return 125
}
