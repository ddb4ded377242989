# Containers of an ordinary user, as rootless podman, Slurm and people at a shell start them.
# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
load lib/ordinary-user

@test "an ordinary user runs a container; its state lies below XDG_RUNTIME_DIR" {
  run_user
  succeeds
  output_mentions fine
  exists "$HOME_DIR/xdg/ocirun"
  equal 12345 "$(stat -c %u "$HOME_DIR/xdg/ocirun")"
}

@test "a user's container without limits has nothing to be warned of" {
  edit_as_user '.process.args = ["true"]'
  run --separate-stderr user run --bundle "$BUNDLE" "$ID"
  succeeds
  [[ -z $stderr ]] || { echo "$stderr"; return 1; }
}

@test "an ordinary user creates, starts, asks, kills and deletes" {
  edit_as_user '.process.args = ["sleep", "1000"]'
  user create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal created "$(user state "$ID" | jq -r .status)"
  user start "$ID"
  equal running "$(user state "$ID" | jq -r .status)"
  run user list
  matches "$ID .*running .*worker"
  run user exec "$ID" id -u
  succeeds
  output_mentions 0
  user kill "$ID" KILL
  eventually eval '[[ $(user state "$ID" | jq -r .status) == stopped ]]'
  user delete "$ID"
}

@test "root who executes something in a user's container is told how" {
  edit_as_user '.process.args = ["sleep", "1000"]'
  user create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  user start "$ID"
  run ocirun exec "$ID" true
  exits 255 "belongs to user 12345: only that user may do this: sudo -u '#12345' ocirun --root $ROOT"
}

# --- ids -------------------------------------------------------------------------------------------

@test "L-9 subordinate ids are mapped by newuidmap and newgidmap, and groups can be had" {
  lend_ids
  edit_as_user '.process.user = {uid: 1000, gid: 1000, additionalGids: [5]}
    | (.mounts[] | select(.type == "devpts")).options += ["gid=5"]
    | .process.args = ["sh", "-c", "id; cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups"]'
  run_user
  succeeds
  output_mentions "uid=1000(web) gid=1000(web) groups=5(tty)"
  matches "1 +$FIRST_UID +$LENT"
  matches "1 +$FIRST_GID +$LENT"
  output_mentions allow
}

@test "L-9 with the own id alone no program is needed, and setgroups is denied" {
  mount --bind /dev/null /usr/bin/newuidmap
  mount --bind /dev/null /usr/bin/newgidmap
  edit_as_user '.process.args = ["cat", "/proc/self/setgroups"]'
  run_user
  umount /usr/bin/newuidmap /usr/bin/newgidmap
  succeeds
  output_mentions deny
}

@test "L-9 a mapping without a root: the user is the same inside" {
  edit_as_user '.linux.uidMappings = [{containerID: 12345, hostID: 12345, size: 1}] | .linux.gidMappings = .linux.uidMappings
    | .process.user = {uid: 12345, gid: 12345} | .linux.devices = [{path: "/dev/zero2", type: "c", major: 1, minor: 5}]
    | .process.args = ["sh", "-c", "id -u; touch /tmp/mine; ls -ln /tmp/mine /dev/zero2"]'
  run_user
  succeeds
  output_mentions 12345
  matches "12345 +12345 .*/tmp/mine"
  matches "1, +5 .*/dev/zero2"
}

@test "L-9 ids that nobody lends are refused with the line that is missing" {
  lend_ids
  edit_as_user '.linux.uidMappings[1].hostID = 299999'
  run_user
  exits 1 "/linux/uidMappings: newuidmap refused the mapping: host ids 299999 to 365534 are not all yours"
  output_mentions "/etc/subuid lends user worker 300000 to 365535"
  : >"$TMP/subuid"
  run_user
  exits 1 "/etc/subuid lends user worker no ids; an administrator can: usermod --add-subuids $((FIRST_GID + LENT))-$((FIRST_GID + LENT + 65535)) worker"
  : >"$TMP/subgid"
  run_user
  exits 1 "usermod --add-subuids 100000-165535 --add-subgids 100000-165535 worker"
}

@test "L-9 fewer ids lent than the mapping wants are refused with those that there are" {
  lend_ids
  echo "worker:$FIRST_UID:1000" >"$TMP/subuid"
  run_user
  exits 1 "/linux/uidMappings: newuidmap refused the mapping: host ids 300000 to 365535 are not all yours"
  output_mentions "/etc/subuid lends user worker 300000 to 300999"
}

@test "a newuidmap that is not installed is named, with what to install" {
  without_programs true 2>/dev/null || skip "no overlay can be mounted over /usr/bin here"
  rm -rf "$TMP/bin" "$TMP/work"
  lend_ids
  run without_programs setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" XDG_RUNTIME_DIR="$HOME_DIR/xdg" \
    "$OCIRUN" run --bundle "$BUNDLE" "$ID"
  exits 1 "newuidmap"
  output_mentions "uidmap"
}

@test "a newuidmap that does not end is killed and named" {
  lend_ids
  install -m 4755 /bin/sleep "$TMP/plain" # as newuidmap it sleeps: the numbers of the map are its seconds
  mount --bind "$TMP/plain" /usr/bin/newuidmap
  run_user
  umount /usr/bin/newuidmap
  exits 1 "/linux/uidMappings: /usr/bin/newuidmap: it did not end within 10 s and was killed"
}

@test "a newuidmap without its privileges, or with no_new_privs set, is told" {
  lend_ids
  cp /usr/bin/newuidmap "$TMP/plain"
  chmod 755 "$TMP/plain"
  mount --bind "$TMP/plain" /usr/bin/newuidmap
  run_user
  umount /usr/bin/newuidmap
  exits 1 "/usr/bin/newuidmap has neither the set-uid bit nor file capabilities"
  run as_user setpriv --no-new-privs "$OCIRUN" run --bundle "$BUNDLE" "$ID"
  exits 1 "no_new_privs is set"
}

@test "a sysctl that forbids user namespaces, and a document without one, are named" {
  # Sets the sysctl in a user namespace, which has limits of its own, and not on the host.
  run as_user unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$OCIRUN" run --bundle "$BUNDLE" "$ID"'
  exits 1 "the sysctl user.max_user_namespaces is 0"
  edit_as_user 'del(.linux.uidMappings, .linux.gidMappings, (.linux.namespaces[] | select(.type == "user")))'
  run_user
  exits 1 'an ordinary user needs a user namespace: list {"type": "user"}'
  equal 1 "${#lines[@]}" # the error alone, without warnings about the document
}

@test "Debian's sysctl that forbids users their namespaces is named" {
  [[ -n ${OCIRUN_VM:-} && -e /proc/sys/kernel/unprivileged_userns_clone ]] || skip "the host's own sysctl is not ours to change, or it has none"
  echo 0 >/proc/sys/kernel/unprivileged_userns_clone
  run_user
  echo 1 >/proc/sys/kernel/unprivileged_userns_clone
  exits 1 "the sysctl kernel.unprivileged_userns_clone is 0: set it to 1"
}

@test "ids that an outer user namespace lacks cannot be handed on" {
  run as_user unshare --user --map-root-user sh -c '"$OCIRUN" run --bundle "$BUNDLE" "$ID"'
  exits 1 "/linux/uidMappings: host id 12345 does not exist in the user namespace that ocirun itself runs in"
}

@test "P-21 groups that the mapping cannot give are refused" {
  edit_as_user '.process.user.additionalGids = [5]'
  run_user
  exits 1 additionalGids
}

# --- spec ------------------------------------------------------------------------------------------

@test "spec --rootless maps all ranges of subordinate ids" {
  echo "worker:500000:10" | tee -a "$TMP/subuid" >>"$TMP/subgid"
  rm "$BUNDLE/config.json"
  user spec --rootless --bundle "$BUNDLE"
  edit_as_user '.process.terminal = false | .process.args = ["sh", "-c", "cat /proc/self/uid_map | xargs -n 3"]'
  run_user
  succeeds "0 12345 1
1 $FIRST_UID $LENT
$((LENT + 1)) 500000 10"
}

@test "what spec --rootless writes runs, with subordinate ids and without" {
  local size
  for size in $LENT 0; do
    rm "$BUNDLE/config.json"
    [[ $size != 0 ]] || : >"$TMP/subuid"
    run user spec --rootless --bundle "$BUNDLE"
    succeeds
    equal "$size" "$(jq '.linux.uidMappings[1].size // 0' "$BUNDLE/config.json")"
    edit_as_user '.process.terminal = false | .process.args = ["echo", "fine"]'
    run_user
    succeeds
    output_mentions fine
  done
}

# --- cgroups ---------------------------------------------------------------------------------------

@test "R-46 a limit that cannot be applied is a warning with --rootless=auto, an error with --rootless=false" {
  edit_as_user '.linux.resources = {devices: [{allow: false, access: "rwm"}], memory: {limit: 50000000}, blockIO: {weight: 0}}'
  run_user
  succeeds
  output_mentions fine
  output_mentions "have no effect: /linux/resources/memory/limit, /linux/resources/devices"
  run user --rootless=true run --bundle "$BUNDLE" "$ID"
  succeeds
  run user --rootless=false run --bundle "$BUNDLE" "$ID"
  exits 1 "permission denied"
}

# delegate: gives a cgroup in each hierarchy to the user, and moves this shell into the one of the unified hierarchy.
delegate() {
  local dir tops=(/sys/fs/cgroup/*/cgroup.procs)
  if [[ -e /sys/fs/cgroup/cgroup.procs ]]; then
    tops=(/sys/fs/cgroup/cgroup.procs)
    echo "+cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
  fi
  for dir in "${tops[@]}"; do
    dir=$(dirname "$dir")/$ID-user
    mkdir "$dir"
    chown 12345 "$dir" "$dir"/{cgroup.procs,cgroup.threads,tasks,cgroup.subtree_control} 2>/dev/null || true
    [[ ! -e $dir/cpuset.cpus ]] || cat "$dir/../cpuset.cpus" >"$dir/cpuset.cpus" || true
    [[ ! -e $dir/cpuset.mems ]] || cat "$dir/../cpuset.mems" >"$dir/cpuset.mems" || true
    [[ -e $dir/cgroup.controllers ]] || continue
    mkdir "$dir/shell"
    chown 12345 "$dir/shell" "$dir/shell/cgroup.procs"
    UNIFIED_SHELL=$dir/shell/cgroup.procs
  done
}

undelegate() {
  local dir
  for dir in /sys/fs/cgroup/{,*/}"$ID-user"; do [[ ! -d $dir ]] || remove_cgroup "$dir"; done
}

# Starts ocirun inside the delegated cgroup, because the kernel does not let the user move a process into it from outside.
from_inside() {
  bash -c 'echo $$ >"$1"; shift; exec "$@"' bash "$UNIFIED_SHELL" \
    setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" XDG_RUNTIME_DIR="$HOME_DIR/xdg" "$OCIRUN" "$@"
}

@test "R-46 in a delegated cgroup limits hold, and a container can be paused" {
  has_unified || skip "no unified hierarchy"
  delegate
  edit_as_user '.linux.cgroupsPath = $p | .linux.resources = {pids: {limit: 50}} | .process.args = ["sleep", "1000"]' \
    --arg p "/$ID-user/box"
  from_inside run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || { show_output; undelegate; return 1; }
  cat /sys/fs/cgroup/{,pids/}"$ID-user/box/pids.max" 2>/dev/null | grep -qx 50
  user pause "$ID"
  equal paused "$(user state "$ID" | jq -r .status)"
  user resume "$ID"
  user kill --all "$ID" KILL
  eventually eval '[[ $(user state "$ID" | jq -r .status) == stopped ]]'
  user delete "$ID"
  [[ -z $(compgen -G "/sys/fs/cgroup/*/$ID-user/box") ]]
  undelegate
}

@test "R-2 R-4 R-7 in a delegated cgroup a relative path and none have places beside the caller's, which delete removes with all below" {
  local name place
  needs_v2 "a place beside the caller's"
  delegate
  for name in "$ID" box; do
    [[ $name == "$ID" ]] || edit_as_user '.linux.cgroupsPath = $p' --arg p "$name"
    edit_as_user '.process.args = ["sleep", "1000"]'
    from_inside run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || { show_output; undelegate; return 1; }
    place=$(sed -n 's/^0:://p' "/proc/$(user state "$ID" | jq .pid)/cgroup")
    equal "/$ID-user/ocirun/$name" "$place" || { undelegate; return 1; }
    setpriv --reuid 12345 --clear-groups --regid 12345 mkdir -p "/sys/fs/cgroup$place/below/it"
    user delete --force "$ID"
    is_gone "/sys/fs/cgroup$place"
  done
  undelegate
}

# in_box COMMAND…: calls a function of lib/cgroup.bash for the container in the delegated cgroup.
in_box() {
  local ID=$ID-user/box
  "$@"
}
throttled() { [[ $(in_box event cpu cpu.stat cpu.stat nr_throttled) -ge 1 ]]; }

@test "R-11 R-21 R-26 R-46 in a delegated cgroup an ordinary user's limits are read back, updated and felt" {
  has_unified || skip "no unified hierarchy"
  needs_controller memory
  needs_controller pids
  needs_controller cpu
  delegate
  edit_as_user '.linux.cgroupsPath = $p | .process.args = ["sleep", "1000"]
    | .linux.resources = {memory: {limit: 67108864}, pids: {limit: 50}, cpu: {quota: 50000, period: 100000}}' --arg p "/$ID-user/box"
  from_inside run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || { show_output; undelegate; return 1; }
  in_box limited memory memory.limit_in_bytes=67108864 memory.max=67108864
  in_box limited pids pids.max=50 pids.max=50
  user update --memory 16m --pids-limit 16 "$ID"
  in_box limited memory memory.limit_in_bytes=16777216 memory.max=16777216
  in_box limited pids pids.max=16 pids.max=16
  run from_inside exec "$ID" sh -c "exec $(eats 100)"
  exits 137
  [[ $(in_box event memory memory.oom_control memory.events oom_kill) -ge 1 ]]
  from_inside exec --detach "$ID" sh -c 'while :; do :; done' </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  user update --cpu-quota 1000 "$ID"
  eventually throttled
  user update --cpu-quota -1 "$ID"
  run from_inside exec "$ID" sh -c 'for i in $(seq 40); do sleep 1000 >/dev/null 2>&1 & done'
  output_mentions "can't fork"
  [[ $(in_box event pids pids.events pids.events max) -ge 1 ]]
  user delete --force "$ID"
  undelegate
}

@test "without a cgroup ps, kill --all and delete find the processes; pause says why it cannot" {
  edit_as_user '.process.args = ["sh", "-c", "sleep 1001 & exec sleep 1000"]'
  run_detached --cgroup-manager=disabled
  user exec --detach "$ID" sleep 1002 </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  eventually eval '[[ $(user ps --format json "$ID" | jq length) == 3 ]]'
  run user pause "$ID"
  exits 1 "no cgroup of its own that could be frozen"
  user kill --all "$ID" TERM
  eventually eval '[[ $(user ps --format json "$ID" | jq length) == 1 ]]'
  user kill "$ID" KILL
  eventually eval '[[ $(user state "$ID" | jq -r .status) == stopped ]]'
  user delete "$ID"
}

@test "without a cgroup ps shows the processes of the container" {
  needs_ps
  edit_as_user '.process.args = ["sh", "-c", "sleep 1001 & exec sleep 1000"]'
  run_detached --cgroup-manager=disabled
  user exec --detach "$ID" sleep 1002 </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  eventually eval '[[ $(user ps --format json "$ID" | jq length) == 3 ]]'
  run user ps "$ID"
  output_mentions "sleep 1001"
  output_mentions "sleep 1002"
  user delete --force "$ID"
}

@test "root too may do without cgroups: --cgroup-manager=disabled makes none, and says that limits have no effect" {
  ROOT=$TMP/root-of-root
  config '.linux.resources = {memory: {limit: 50000000}} | .process.args = ["sleep", "1000"]'
  attempt --cgroup-manager=disabled run --detach --bundle "$BUNDLE" "$ID"
  succeeds
  output_mentions "/linux/resources"
  [[ -z $(compgen -G "/sys/fs/cgroup/*/ocirun/$ID") ]]
  equal "[$(init_pid)]" "$(ocirun ps --format json "$ID")"
  ocirun delete --force "$ID"
}

# without_cgroups [ro] COMMAND…: runs it where no cgroup filesystem is mounted; with `ro`, where all are read-only.
without_cgroups() {
  local change='umount -R /sys/fs/cgroup'
  if [[ $1 == ro ]]; then
    shift
    change='for at in $(awk "/ - cgroup/ {print \$5}" /proc/self/mountinfo); do mount -o remount,bind,ro "$at"; done'
  fi
  unshare --mount sh -c "$change; exec \"\$@\"" sh "$@"
}

@test "an absent or read-only cgroupfs: a warning where no limits are asked, an error with the field where they are" {
  ROOT=$TMP/root-of-root
  local how
  for how in "" ro; do
    # shellcheck disable=SC2086
    run without_cgroups $how "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
    succeeds
    output_mentions "warning: the container has no cgroup of its own"
    output_mentions fine
    config '.linux.resources = {pids: {limit: 50}}'
    # shellcheck disable=SC2086
    run without_cgroups $how "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
    exits 1 "/linux/resources/pids/limit: cannot be applied"
    # shellcheck disable=SC2086
    run without_cgroups $how "$OCIRUN" --root "$ROOT" --rootless=true run --bundle "$BUNDLE" "$ID"
    succeeds
    output_mentions "have no effect: /linux/resources/pids/limit"
    # shellcheck disable=SC2086
    run without_cgroups $how "$OCIRUN" --root "$ROOT" --cgroup-manager=disabled run --bundle "$BUNDLE" "$ID"
    succeeds
    config 'del(.linux.resources)'
  done
}

# --- mounts and devices ----------------------------------------------------------------------------

@test "M-15 devpts with a group that the mapping lacks is refused in words" {
  edit_as_user '(.mounts[] | select(.type == "devpts")).options += ["gid=5"]'
  run_user
  exits 1 "gid=5"
}

@test "M-13 with the host's network namespace sysfs is the host's, bound" {
  needs_system_call mount_setattr "a recursive option"
  edit_as_user 'del(.linux.namespaces[] | select(.type == "network")) | .process.args = ["ls", "/sys/class/net"]'
  run_user
  succeeds
  output_mentions lo
}

@test "without a pid namespace of its own /proc is the host's, bound" {
  edit_as_user 'del(.linux.namespaces[] | select(.type == "pid")) | .process.args = ["sh", "-c", "[ $$ != 1 ] && readlink /proc/$$/exe"]'
  run_user
  succeeds
  output_mentions /bin/busybox
}

@test "without an ipc namespace of its own mqueue is the host's, or refused in words where it has none" {
  [[ ! -d /dev/mqueue ]] || skip "the host has one"
  edit_as_user 'del(.linux.namespaces[] | select(.type == "ipc"))'
  run_user
  exits 1 "mqueue belongs to a namespace that the container shares: give the container its own ipc namespace"
}

@test "L-25 a device is the host's node, bound by its number; one that the host lacks is refused" {
  edit_as_user '.linux.devices = [{path: "/dev/nothing", type: "c", major: 1, minor: 3}] | .process.args = ["ls", "-l", "/dev/nothing"]'
  run_user
  succeeds
  matches "1, +3 .*/dev/nothing"
  edit_as_user '.linux.devices[0].minor = 77'
  run_user
  exits 1 "the host has no node that is the character device 1:77"
}

@test "runc CVE-2023-25809 the cgroup tree cannot be written from inside, with and without a cgroup namespace" {
  edit_as_user '.process.args = ["sh", "-c", "exec 2>&1; mkdir /sys/fs/cgroup/memory/evil; touch /sys/fs/cgroup/evil; exit 0"]'
  run_user
  output_mentions "Read-only file system"
  edit_as_user 'del(.linux.namespaces[] | select(.type == "cgroup"))'
  run_user
  output_mentions "Read-only file system"
}

# --- the process -----------------------------------------------------------------------------------

@test "the terminal belongs to the process's user; exec has one too" {
  lend_ids
  edit_as_user '.process.terminal = true | .process.user = {uid: 1000, gid: 1000} | .process.args = ["sh", "-c", "ls -ln $(tty); echo fine >/dev/tty"]'
  run as_user script -qec "$OCIRUN run --bundle $BUNDLE $ID" /dev/null
  succeeds
  matches "1000 +0 .*/dev/pts/0"
  output_mentions fine
}

@test "exec takes another user, and refuses one that is not mapped" {
  lend_ids
  edit_as_user '.process.args = ["sleep", "1000"]'
  run_detached
  run user exec --user 1000:1000 --additional-gids 5 "$ID" id
  succeeds "uid=1000(web) gid=1000(web) groups=5(tty)"
  run user exec --user 70000 "$ID" id
  exits 255 "/process/user/uid: become user 70000 (not mapped by /linux/uidMappings)"
  user delete --force "$ID"
}

@test "hooks outside are the user's, hooks inside root's; a filter loads without no_new_privs" {
  edit_as_user '.hooks = {
      createRuntime: [{path: "/bin/sh", args: ["sh", "-c", "id -u >>\($f)"]}],
      createContainer: [{path: "/bin/sh", args: ["sh", "-c", "id -u >>\($f)"]}],
      poststop: [{path: "/bin/sh", args: ["sh", "-c", "id -u >>\($f)"]}]}
    | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]}
    | .process.noNewPrivileges = false | .process.args = ["sh", "-c", "exec 2>&1; mkdir /tmp/x; echo end"]' --arg f "$HOME_DIR/hooks"
  run_user
  succeeds
  output_mentions "Operation not permitted"
  equal "12345 0 12345" "$(xargs <"$HOME_DIR/hooks")"
}

# --- other places ----------------------------------------------------------------------------------

@test "root of podman's user namespace and its user find the same state, with XDG_RUNTIME_DIR and without" {
  edit_as_user 'del(.linux.uidMappings, .linux.gidMappings, (.linux.namespaces[] | select(.type == "user"))) | .process.args = ["sleep", "1000"]'
  as_user unshare --user --map-root-user sh -c '"$OCIRUN" run --detach --bundle "$BUNDLE" "$ID"' </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal running "$(user state "$ID" | jq -r .status)"
  mkdir -p /run/user
  ln -s "$HOME_DIR/xdg" /run/user/12345
  equal running "$(as_user env -u XDG_RUNTIME_DIR "$OCIRUN" state "$ID" | jq -r .status)"
  equal running "$(as_user env -u XDG_RUNTIME_DIR unshare --user --map-root-user "$OCIRUN" state "$ID" | jq -r .status)"
  rm /run/user/12345
  user delete --force "$ID"
}

@test "root asks for, kills and deletes a user's container in the user's state root (Slurm)" {
  edit_as_user '.process.args = ["sleep", "1000"]'
  run_detached --root "$ROOT"
  equal running "$(ocirun state "$ID" | jq -r .status)"
  ocirun kill -a "$ID" KILL
  eventually status_is stopped
  ocirun delete --force "$ID"
}

@test "root's container is not another user's to touch" {
  ROOT=$TMP/root-of-root BUNDLE=$HOME_DIR/bundle
  config '.process.args = ["sleep", "1000"]'
  create_and_start
  run user --root "$ROOT" kill "$ID" KILL
  exits 1
  run user --root "$ROOT" delete --force "$ID"
  status_is running
}
