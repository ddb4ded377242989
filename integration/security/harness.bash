# shellcheck shell=bash disable=SC2154,SC2016,SC2034 # bats sets status and output; jq's variables; the tests' own
# What every file here loads. A test attacks ocirun, and a detector finds nothing; then it attacks `naive`, a runtime
# that makes the mistake on purpose (or repeats the deed by hand), and the same detector must find it: the control.
#
# $DECOY is a directory of the host that no container was given. Its list (names, kinds, modes, owners, sizes,
# inodes, times, contents) must be the same when the test ends.

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
  common_teardown || rc=1 # which removes what a test that passed has written
  return "$rc"
}

# --- detectors: each returns 0 when the wall held, and says what it found otherwise ------------------

make_decoy() {
  rm -rf "$DECOY"
  mkdir -p "$DECOY/sub"
  echo "secret of the host" >"$DECOY/file"
  echo "not a device" >"$DECOY/ptmx"
  DECOY_BEFORE=$(list_decoy)
}

# A directory's times tell of what was made and removed again.
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
secret_is_kept() { never_mentions "secret of the host"; }

# ended WAY…: run_container came to one of these statuses; a refusal (1) is a sentence.
ended() {
  local expected
  for expected in "$@"; do [[ $status != "$expected" ]] || return 0; done
  found
}

# --- controls -------------------------------------------------------------------------------------

# caught DETECTOR…: it must find what was just done.
caught() {
  if "$@" >"$TMP/caught"; then
    echo "the control was not noticed by: $*"
    [[ -z ${output:-} ]] || echo "its output: $output"
    return 1
  fi
}

# caught_decoy: the decoy was changed by the control; it is made anew.
caught_decoy() {
  caught decoy_is_unchanged || return 1
  make_decoy
}

# run_naive: as run_container, by the runtime that makes all the mistakes.
run_naive() { run timeout --foreground -k 2 30 "$SECURITY/naive" "$BUNDLE"; }

# naive_beside: the same as a helper, once its program has made /started; $HELPER is in all of its namespaces but pid.
naive_beside() {
  helper "$SECURITY/naive" "$BUNDLE"
  eventually exists "$BUNDLE/rootfs/started"
}

# --- attacks ----------------------------------------------------------------------------------------

# plant PATH TARGET: a link in the root filesystem, in place of what is there.
plant() {
  rm -rf "${BUNDLE:?}/rootfs$1"
  ln -s "$2" "$BUNDLE/rootfs$1"
}

# container_hook TEXT: a createContainer hook: it finds the mount table as a racing neighbour would leave it.
container_hook() {
  config '.hooks.createContainer = [{path: "/bin/sh", args: ["sh", "-c", $t],
    env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "R=" + $r, "D=" + $d]}]' --arg t "$1" --arg r "$BUNDLE/rootfs" --arg d "$DECOY"
}

# no_mounts_below PREFIX: /dev, say, is then the image's own.
no_mounts_below() { config 'del(.mounts[] | select(.destination | startswith($p)))' --arg p "$1"; }

# with_python: the host's /usr inside, for attackers that want more than busybox.
with_python() {
  rm -rf "$BUNDLE/rootfs/usr"
  mkdir "$BUNDLE/rootfs/usr" "$BUNDLE/rootfs/attack"
  ln -sfn usr/lib "$BUNDLE/rootfs/lib"
  ln -sfn usr/lib64 "$BUNDLE/rootfs/lib64"
  add_mount '{"destination": "/usr", "source": "/usr", "options": ["bind", "ro"]}'
}
