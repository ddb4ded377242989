# The messages of integration/vm about virtual machines that do not run. Needs no machine.
load lib/common

setup() {
  common_setup
  export XDG_CACHE_HOME=$TMP/cache OCIRUN_VM_ENGINES=abacus
}

@test "vm/choose tries the engines once, and remembers that none runs" {
  run "$REPO/integration/vm/choose"
  exits 1 "abacus is none of kvm, uml and qemu"
  output_mentions "none of abacus runs on this host"
  run "$REPO/integration/vm/choose"
  exits 1 "none of abacus runs on this host; to try again, remove $TMP/cache/ocirun-vm/engine-"
  output_never_mentions "is none of kvm"
}

@test "vm/choose gives the answer that it remembers" {
  run "$REPO/integration/vm/choose"
  local answers=("$TMP"/cache/ocirun-vm/engine-*)
  equal 1 "${#answers[@]}"
  echo uml >"${answers[0]}"
  run "$REPO/integration/vm/choose"
  succeeds uml
}

@test "vm/run says that no machine runs" {
  run "$REPO/integration/vm/run" -- true
  exits 125 "no virtual machine runs on this host"
}
