# containerd-shim-ocirun-v2 without containerd: lib/shim-scene plays containerd, by ttrpc. $OCIRUN_TEST_REPETITIONS, by default 60, makes
# the scenes longer. The list containerd-shim of integration/clients has the real containerd.

load lib/common

setup() {
  [[ -x ${OCIRUN%/*}/containerd-shim-ocirun-v2 ]] || skip "this build has no shim"
  common_setup
}

scene() { python3 "$LIB/shim-scene" "$1" "${OCIRUN%/*}/containerd-shim-ocirun-v2" "$OCIRUN" "$ROOT" "$BUNDLE" "$ID"; }

@test "shim: a container and an exec live and end, and the events come in order" { scene life; }

@test "shim: a task is found when it has a pid" { scene asked_during_create; }

@test "shim: a Create that fails leaves nothing of its own, and what was there before" { scene refused_creates; }

@test "shim: events that containerd has missed come when it is back" { scene containerd_is_away; }

@test "shim: wrong requests are refused with containerd's codes, and the shim goes on" { scene wrong_requests; }

@test "shim: execs that end or never start cost no memory and no descriptor" {
  run scene many_execs
  succeeds
  echo "# $output" >&3
}

@test "shim: containers of a pod that end, are killed or never start cost its server no memory and no descriptor" {
  run scene many_containers
  succeeds
  echo "# $output" >&3
}

@test "shim: many execs at once each have their own status" { scene many_at_once; }

@test "shim: a client that dies within a request, or before its answer, takes nothing with it" { scene client_dies; }

@test "shim: delete leaves nothing of a shim that was killed, whenever it was" { scene killed; }

@test "shim: delete ends a server without tasks that containerd does not know, and no other" { scene idle_servers; }

# faults/shims.py has the calls and the checks. OCIRUN_FAULTS_STRIDE=1 takes all of some six thousand points.
@test "shim: delete leaves nothing, and the server nothing undone, at whichever system call the shim, its runtime or its client is killed" {
  [[ $(uname -m) == x86_64 ]] || skip "the injector knows x86-64 only"
  "$REPO/integration/faults/sweep" --bundle shim --fault KILL,KILLCLIENT --stride "${OCIRUN_FAULTS_STRIDE:-97}" </dev/null 3>&- 4>&-
}
