# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# `checkpoint` and `restore`. criu works under few kernels: where `criu check` fails, what needs criu is skipped. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint.bats
load lib/common
load lib/checkpoint

has_finished() { ocirun state "$ID" | jq -e 'has("finished")' >/dev/null; }

@test "checkpoint and restore --help succeed, and name the options that engines look for" {
  run ocirun checkpoint --help
  succeeds
  output_mentions --pre-dump
  run ocirun restore --help
  succeeds
  output_mentions --lsm-mount-context
}

@test "checkpoint refuses a container that is not there, one that is created, and options without sense" {
  run ocirun checkpoint nobody
  exits 1 "container does not exist"
  create
  run ocirun checkpoint "$ID"
  exits 1 "created: it must be running or paused"
  run ocirun checkpoint --manage-cgroups-mode softly "$ID"
  exits 1 "must be one of soft|full|strict|ignore"
  run ocirun checkpoint --empty-ns mount "$ID"
  exits 1 "must be network"
}

@test "without criu, checkpoint and restore name the package, and the container runs on" {
  create_and_start
  run ocirun --criu /nowhere/criu checkpoint "$ID"
  exits 1 "--criu /nowhere/criu: must name an executable file"
  status_is running
}

@test "a criu that breaks off is an error, and the container runs on" {
  create_and_start
  broken_criu
  run ocirun --criu "$TMP/criu" checkpoint "$ID"
  exits 1 "criu ended without an answer"
  status_is running
  config '.linux.cgroupsPath += "-second"'
  run ocirun --criu "$TMP/criu" restore --bundle "$BUNDLE" --image-path "$TMP/checkpoint" restored
  exits 1 "there is no inventory.img"
  run ocirun --criu "$TMP/criu" restore --trust-images --bundle "$BUNDLE" --image-path "$TMP/checkpoint" restored
  exits 1 "criu ended without an answer"
  run ocirun state restored
  exits 1 "does not exist"
}

@test "a criu that is killed leaves no process" {
  create_and_start
  printf '#!/bin/sh\nsleep 1003 </dev/null >/dev/null 2>&1 3>&- 4>&- &\necho $! >%s\nkill -KILL $$\n' "$TMP/child" >"$TMP/criu"
  chmod 755 "$TMP/criu"
  run ocirun --criu "$TMP/criu" checkpoint "$ID"
  exits 1 "criu was killed by signal 9 (SIGKILL)"
  child_is_gone() { ! kill -0 "$(<"$TMP/child")" 2>/dev/null; }
  wait_for child_is_gone # a killed process has its pid until it is reaped
  status_is running
}

@test "a directory of images that is a symlink, or that others may write to, is refused" {
  create_and_start
  broken_criu
  mkdir "$TMP/real"
  ln -s real "$TMP/link"
  run ocirun --criu "$TMP/criu" checkpoint --image-path "$TMP/link" "$ID"
  exits 1 "no symlink"
  chmod 777 "$TMP/real"
  run ocirun --criu "$TMP/criu" restore --bundle "$BUNDLE" --image-path "$TMP/real" restored
  exits 1 "other users may write"
}

@test "a container goes on counting after checkpoint and restore, with its cgroup and its protection" {
  needs_criu
  run_counter
  ocirun checkpoint "$ID"
  status_is stopped
  equal 700 "$(stat -c %a checkpoint)"
  local before
  before=$(counted)
  restore
  status_is running
  eventually counts_beyond "$before"
  in_cgroup "/$ID"
  run ocirun exec "$ID" grep -cE 'NoNewPrivs:.1|CapBnd:.0000000000000000' /proc/1/status
  succeeds
  ocirun pause "$ID"
  status_is paused
  ocirun resume "$ID"
  ocirun kill "$ID" KILL
  eventually status_is stopped
}

@test "checkpoint --leave-running lets the container run on, and it can be restored under another id" {
  needs_criu
  run_counter
  ocirun checkpoint --leave-running "$ID"
  status_is running
  local before
  before=$(counted)
  eventually counts_beyond "$before"
  ocirun delete --force "$ID"
  config '.linux.cgroupsPath += "-second"'
  restore
  before=$(counted)
  eventually counts_beyond "$before"
  in_cgroup "/$ID-second"
}

@test "pre-dumps are followed by a dump that refers to them" {
  needs_criu
  run_counter
  ocirun checkpoint --pre-dump --image-path "$TMP/one" "$ID"
  status_is running
  ocirun checkpoint --pre-dump --image-path "$TMP/two" --parent-path ../one "$ID"
  status_is running
  ocirun checkpoint --image-path "$TMP/three" --parent-path ../two "$ID"
  equal ../two "$(readlink "$TMP/three/parent")"
  local before
  before=$(counted)
  restore --image-path "$TMP/three"
  eventually counts_beyond "$before"
}

@test "a seccomp profile and bind mounts are restored" {
  needs_criu
  mkdir "$TMP/data"
  add_mount "{\"destination\": \"/data/deep\", \"type\": \"bind\", \"source\": \"$TMP/data\", \"options\": [\"bind\", \"ro\"]}"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]}'
  run_counter
  ocirun checkpoint "$ID"
  restore
  run ocirun exec "$ID" sh -c 'grep -q "Seccomp:.2" /proc/1/status && grep " /data/deep " /proc/1/mountinfo'
  succeeds
  output_mentions " ro"
}

@test "a read-only root is read-only again" {
  needs_criu
  config '.root.readonly = true'
  script 'while :; do sleep 1; done' # sleep of busybox 1.37 ends when criu interrupts it
  run_with_pipes
  ocirun checkpoint "$ID"
  restore
  run ocirun exec "$ID" touch /file
  exits 1 "ead-only file system"
}

@test "forged images are found out: other capabilities, no filter, another user" {
  needs_criu
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]}'
  run_counter
  ocirun checkpoint "$ID"
  cp -a checkpoint intact
  forge "creds = core['thread_core']['creds']; creds['cap_bnd'] = creds['cap_prm'] = [4294967295, 511]"
  restore_fails
  output_mentions "the images do not fit config.json"
  output_mentions "in its bounding set, which /process/capabilities of config.json does not give"
  cp -a intact/. checkpoint/
  forge "[part.pop(key) for part in (core['tc'], core['thread_core']) for key in list(part) if 'seccomp' in key]"
  restore_fails
  output_mentions "has no seccomp filter"
  cp -a intact/. checkpoint/
  forge "core['thread_core']['creds'].update(uid=7, euid=7, suid=7, fsuid=7)"
  restore_fails
  output_mentions "has user ids 7,7,7,7"
  run ocirun state "$ID"
  exits 1 "does not exist"
  cp -a intact/. checkpoint/
  restore
  status_is running
}

@test "forged images are found out: another root directory, a mount without its options, other groups" {
  needs_criu
  run_counter
  ocirun checkpoint "$ID"
  cp -a checkpoint intact
  local mounts root
  needs_crit
  root=$(crit decode -i checkpoint/fs-1.img | jq '.entries[0].root_id')
  forge_image files.img "[(entry['reg'].update(name='/tmp'), entry['reg'].pop('mode', 0)) for entry in images['entries'] if entry['id'] == $root]"
  restore_fails
  output_mentions "has another root directory than the container"
  cp -a intact/. checkpoint/
  mounts=$(basename checkpoint/mountpoints-*.img)
  forge_image "$mounts" "[entry.update(flags='0x0') for entry in images['entries'] if entry['mountpoint'].endswith('/shm')]"
  restore_fails
  output_mentions "/dev/shm lacks nosuid, nodev, noexec"
  cp -a intact/. checkpoint/
  forge "core['thread_core']['creds'].update(groups=[0, 6])"
  restore_fails
  output_mentions "has the supplementary groups [0,6]"
  cp -a intact/. checkpoint/
  chmod 622 "checkpoint/core-1.img"
  restore_fails
  output_mentions "core-1.img: other users may write to it"
}

@test "a shell on a terminal is restored, and its terminal goes to the console socket" {
  needs_criu
  config '.process.terminal = true'
  script 'echo before; read -r line; echo "after $line"; sleep 1000'
  helper "$LIB/console" "$TMP/console.sock" "$TMP/screen"
  eventually exists "$TMP/console.sock"
  create --console-socket "$TMP/console.sock"
  start
  eventually contains "$TMP/screen" before
  ocirun checkpoint "$ID"
  rm -f "$TMP/console.sock"
  helper "$LIB/console" "$TMP/console.sock" "$TMP/second" --input $'word\n'
  eventually exists "$TMP/console.sock"
  ocirun restore --detach --bundle "$BUNDLE" --console-socket "$TMP/console.sock" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  status_is running
  eventually contains "$TMP/second" "after word"
}

@test "a joined network namespace is that of config.json after a restore" {
  needs_criu
  helper unshare --net sleep 1000
  eventually differs "/proc/$HELPER/ns/net" /proc/self/ns/net
  set_namespace network "/proc/$HELPER/ns/net"
  run_counter
  ocirun checkpoint "$ID"
  restore
  equal "$(readlink "/proc/$HELPER/ns/net")" "$(readlink "/proc/$(init_pid)/ns/net")"
}

@test "what criu cannot restore for ocirun is refused: a user namespace without root, a joined cgroup namespace" {
  user_namespace
  config '.linux.uidMappings[0].containerID = 1000 | .linux.gidMappings[0].containerID = 1000 | .process.user = {uid: 1000, gid: 1000}'
  run ocirun restore --bundle "$BUNDLE" --image-path "$TMP" restored
  exits 1 "a user namespace without user 0 and group 0 cannot be checkpointed"
  config 'del(.linux.uidMappings, .linux.gidMappings)'
  drop_namespace user
  set_namespace cgroup /proc/self/ns/cgroup
  run ocirun restore --bundle "$BUNDLE" --image-path "$TMP" restored
  exits 1 "the cgroup namespace is joined by a path"
}

@test "restore in the foreground returns the program's status and leaves nothing" {
  needs_criu
  script 'until [ -e /tmp/end ]; do sleep 0.1; done; exit 7'
  run_with_pipes
  ocirun checkpoint "$ID"
  touch "$BUNDLE/rootfs/tmp/end"
  status=0
  ocirun restore --bundle "$BUNDLE" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>"$TMP/errors" 3>&- 4>&- || status=$?
  equal 7 "$status"
  run ocirun state "$ID"
  exits 1 "does not exist"
}

@test "a restored container records its end, and rules of Landlock are refused" {
  needs_criu
  counter
  config '.annotations["org.ocirun.record-exit"] = "true"'
  run_counting
  ocirun checkpoint "$ID"
  restore
  equal true "$(ocirun state "$ID" | jq 'has("started") and (has("finished") | not)')"
  ocirun kill "$ID" KILL
  eventually has_finished
  ocirun delete "$ID"
  kernel_is 6 2 || return 0
  config '.annotations["org.ocirun.landlock.read"] = "/"'
  run_counting
  run ocirun checkpoint "$ID"
  exits 1 "/annotations/org.ocirun.landlock: a container that Landlock restricts"
}

@test "hooks run at a restore, the poststart hooks after the processes; its timeline has them, and criu" {
  needs_criu
  counter
  config '.hooks = {createRuntime: [{path: "/bin/sh", args: ["sh", "-c", $c]}], poststart: [{path: "/bin/sh", args: ["sh", "-c", $p]}]}' \
    --arg c "echo createRuntime >>$TMP/hooks" --arg p "echo poststart >>$TMP/hooks"
  run_counting
  ocirun checkpoint "$ID"
  : >"$TMP/hooks"
  restore --trace "$TMP/trace"
  equal "createRuntime poststart" "$(xargs <"$TMP/hooks")"
  local step
  for step in "read the images" "make the surroundings" "restore the processes" "poststart hooks" hook criu; do
    jq -e --arg step "$step" 'any(.traceEvents[]; .ph == "X" and .name == $step)' "$TMP/trace" >/dev/null
  done
}
