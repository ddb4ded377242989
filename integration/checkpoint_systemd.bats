# shellcheck disable=SC2016 # the guest's variables are not ours
# `checkpoint` and `restore` of containers that are systemd's scopes, in a machine with systemd under whose kernel criu works. The machine
# takes minutes: the part `qemu` of ./dev sets OCIRUN_TEST_MACHINE.
#   OCIRUN_TEST_MACHINE=qemu ./dev bats integration/checkpoint_systemd.bats
load lib/common

setup() {
  common_setup
  [[ ${OCIRUN_TEST_MACHINE:-} == qemu ]] || skip "OCIRUN_TEST_MACHINE is not qemu"
}

# machine SCRIPT [OPTION…]: runs the script with lib/systemd-guest.bash in the machine.
machine() {
  run "$REPO/integration/vm/run" --engine qemu --systemd --timeout 600 "${@:2}" -- \
    bash -c "source '$LIB/systemd-guest.bash'; $COUNTER $1" </dev/null
  succeeds
}

# COUNTER: functions of the guest for a container that appends a line to /n again and again.
COUNTER='
counter() {
  bundle ".root.readonly = false | .process.args = [\"sh\", \"-c\", \"while :; do echo >>/n; sleep 0.05; done\"] | .linux.cgroupsPath = \"a.slice:pre:web\""
  up web
  counts_on
}
counts_on() {
  local before
  before=$(cat "$W/bundle/rootfs/n" 2>/dev/null | wc -c)
  eventually counts_beyond "$before"
}
counts_beyond() { [[ $(cat "$W/bundle/rootfs/n" 2>/dev/null | wc -c) -gt $1 ]]; }
save() { ocirun checkpoint --image-path "$W/images" web; }
restore() { ocirun restore --detach --bundle "$W/bundle" --image-path "$W/images" "$@" web </dev/null >"$W/log" 2>&1 || { cat "$W/log" "$W/images/restore.log"; exit 1; }; }
in_scope() {
  has pre-web.scope ActiveState active
  has pre-web.scope Slice a.slice
  equal "the cgroup" /a.slice/pre-web.scope "$(sed -n "s/^$hierarchy//p" "/proc/$(pid web)/cgroup")"
}
modes() {
  local mode
  counter
  save
  for mode in soft full strict ignore; do
    restore --manage-cgroups-mode "$mode"
    in_scope
    counts_on
    ocirun pause web
    equal "$mode" paused "$(ocirun state web | jq -r .status)"
    ocirun resume web
    ocirun delete --force web
    gone pre-web.scope
  done
}
'

@test "a scope is restored in each of --manage-cgroups-mode, and is gone after delete" {
  machine 'hierarchy=0:: modes'
}

@test "a scope is restored on a hybrid host, too" {
  machine 'hierarchy="[0-9]*:memory:" modes' --cgroup hybrid
}

@test "a restore of a scope that fails, and one that is killed, leave nothing after delete --force" {
  machine '
    counter
    save
    config ".hooks.createRuntime = [{path: \"/bin/false\"}]"
    ! ocirun restore --detach --bundle "$W/bundle" --image-path "$W/images" web </dev/null >"$W/log" 2>&1
    grep -q createRuntime "$W/log"
    gone pre-web.scope
    config ".hooks.createRuntime = [{path: \"/bin/sh\", args: [\"sh\", \"-c\", \"kill -KILL \$PPID\"]}]"
    ! ocirun restore --detach --bundle "$W/bundle" --image-path "$W/images" web </dev/null >"$W/log" 2>&1
    ocirun delete --force web
    gone pre-web.scope
    equal "state" "" "$(ls "$W/root")"'
}
