# shellcheck shell=bash disable=SC2154,SC2016,SC2034 # bats sets status and output; jq's variables; the tests' own
# Every test file here loads this. A test attacks ocirun, and a detector must find no damage. Then comes the control: the test attacks
# `naive`, a runtime that makes the mistake on purpose (or does the damage by hand), and the same detector must find the damage.
#
# $DECOY is a directory of the host that no container was given. The list of its files (names, kinds, modes, owners, sizes, inodes,
# times, contents) must be the same when the test ends.

# shellcheck source=integration/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.bash"
SECURITY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
UP=../../../../../../../../../../../..

setup() { security_setup; }
teardown() { security_teardown; }

security_setup() {
  common_setup
  DECOY=$TMP/decoy
  make_decoy
}

security_teardown() {
  local rc=0
  if [[ $READY == 1 ]]; then
    stop_helpers
    delete_containers
    decoy_is_unchanged || rc=1
  fi
  common_teardown || rc=1 # after the look at the decoy, because it removes the files of a passed test
  return "$rc"
}

# --- detectors: each returns 0 if there is no damage; otherwise it prints the damage and returns 1 ----

make_decoy() {
  rm -rf "$DECOY"
  mkdir -p "$DECOY/sub"
  echo "secret of the host" >"$DECOY/file"
  echo "not a device" >"$DECOY/ptmx"
  DECOY_BEFORE=$(list_decoy)
}

# The times are in the list because they show files that were made and removed again.
list_decoy() {
  find "$DECOY" -printf '%p %y %m %U:%G %s %i %l %T@ %C@\n' | sort
  find "$DECOY" -type f -exec sha256sum {} + | sort
}

decoy_is_unchanged() {
  local after
  after=$(list_decoy)
  [[ $DECOY_BEFORE == "$after" ]] || { echo "the decoy has changed:"; diff <(echo "$DECOY_BEFORE") <(echo "$after"); return 1; }
}

# The container's output shows nothing that only the host has.
secret_is_kept() { output_never_mentions "secret of the host"; }

# ended STATUS…: run_container has set $status to one of these.
ended() {
  local expected
  for expected in "$@"; do [[ $status != "$expected" ]] || return 0; done
  fail_with_output
}

# --- controls -------------------------------------------------------------------------------------

# detector_catches DETECTOR…: the detector must find the control's damage.
detector_catches() {
  if "$@" >"$TMP/caught"; then
    echo "the detector did not find the damage of the control: $*"
    [[ -z ${output:-} ]] || echo "its output: $output"
    return 1
  fi
}

# decoy_was_changed: the control must have changed the decoy. Then makes the decoy again.
decoy_was_changed() {
  detector_catches decoy_is_unchanged || return 1
  make_decoy
}

# run_naive: as run_container, with `naive` as the runtime.
run_naive() { run timeout --foreground -k 2 30 "$SECURITY/naive" "$BUNDLE"; }

# naive_beside: runs `naive` in the background, and returns when its program has made /started. $HELPER is a process in all namespaces
# of that container except the pid namespace.
naive_beside() {
  helper "$SECURITY/naive" "$BUNDLE"
  eventually exists "$BUNDLE/rootfs/started"
}

# --- attacks ----------------------------------------------------------------------------------------

# plant PATH TARGET: replaces PATH in the root filesystem by a symlink to TARGET.
plant() {
  rm -rf "${BUNDLE:?}/rootfs$1"
  ln -s "$2" "$BUNDLE/rootfs$1"
}

# container_hook TEXT: adds a createContainer hook. It changes the root filesystem between the mounts and pivot_root, as another
# container that wins a race would.
container_hook() {
  config '.hooks.createContainer = [{path: "/bin/sh", args: ["sh", "-c", $t],
    env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "R=" + $r, "D=" + $d]}]' --arg t "$1" --arg r "$BUNDLE/rootfs" --arg d "$DECOY"
}

# no_mounts_below PREFIX: removes the mounts at PREFIX and below from config.json, so that for instance /dev is the image's.
no_mounts_below() { config 'del(.mounts[] | select(.destination | startswith($p)))' --arg p "$1"; }

# with_python: binds the host's /usr into the container, for attackers that need Python.
with_python() {
  rm -rf "$BUNDLE/rootfs/usr"
  mkdir "$BUNDLE/rootfs/usr" "$BUNDLE/rootfs/attack"
  ln -sfn usr/lib "$BUNDLE/rootfs/lib"
  ln -sfn usr/lib64 "$BUNDLE/rootfs/lib64"
  add_mount '{"destination": "/usr", "source": "/usr", "options": ["bind", "ro"]}'
}
