# shellcheck shell=bash
# Functions for tests that run scripts under a systemd: `source "$LIB/systemd-beds.bash"` after `load lib/common`. The script's functions
# are those of lib/systemd-guest.bash; its output is the output of the test.

setup_file() {
  local output
  if ! output=$(timeout -k 5 600 "$REPO/integration/vm/systemd-ns" -- true 2>&1 </dev/null); then
    BED_MISSING="systemd-ns cannot run here: $(tail -n 1 <<<"$output")"
    export BED_MISSING
  fi
}

# guest [OPTION…] SCRIPT: runs the script with lib/systemd-guest.bash in namespaces. It must succeed.
guest() { run_in "$REPO/integration/vm/systemd-ns" "$@"; }
# machine [OPTION…] SCRIPT: as guest, but in a virtual machine, where cgroup v2 has controllers.
machine() { run_in "$REPO/integration/vm/run" --systemd "$@"; }

run_in() {
  [[ -z ${BED_MISSING:-} ]] || skip "$BED_MISSING"
  run timeout -k 5 950 "${@:1:$#-1}" -- bash -c "source '$LIB/systemd-guest.bash'; ${*: -1}" </dev/null
  succeeds
}
