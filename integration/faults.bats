# What goes wrong around the runtime: killed anywhere, refused system calls, full disks, few descriptors.
load lib/common

# under_strace RULE OPTION… -- COMMAND…: status and output of ocirun with a fault injected; no pipe is left open.
under_strace() {
  local options=(-qqq -o /dev/null)
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  status=0
  timeout --foreground -k 2 30 strace "${options[@]}" "$OCIRUN" --root "$ROOT" "${@:2}" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || status=$?
  output=$(<"$TMP/output")
}

# nothing_is_left: after delete --force, which has to succeed.
nothing_is_left() {
  run ocirun delete --force "$ID"
  succeeds
  untraced host_is_unchanged || { print_host_changes; return 1; }
}

@test "create killed at any of its system calls leaves only what delete --force removes" {
  local n
  for ((n = 1; n < 400; n += 9)); do
    under_strace -e trace=all -e "inject=all:signal=KILL:when=$n" -- create --bundle "$BUNDLE" "$ID"
    [[ $status != 0 ]] || break
    nothing_is_left || { echo "killed at call $n"; return 1; }
  done
  [[ $n -gt 50 ]] # it was killed several times
}

@test "a create whose calls fail for want of memory, space or permission fails cleanly or succeeds" {
  local error n
  for error in ENOMEM ENOSPC EPERM EINTR; do
    for ((n = 1; n < 40; n += 3)); do
      under_strace -e "inject=openat,openat2,mkdirat,mkdir,write,writev,renameat2,clone3,mount,fsopen,fsmount,move_mount,sendmsg,recvmsg,setns,pidfd_open:error=$error:when=$n" \
        -- create --bundle "$BUNDLE" "$ID"
      [[ $status == 0 || $status == 1 ]] || { echo "$error at $n: status $status: $output"; return 1; }
      [[ $status == 0 ]] || untraced host_is_unchanged || { echo "$error at $n: $output"; print_host_changes; return 1; }
      nothing_is_left || { echo "$error at $n"; return 1; }
    done
  done
}

@test "start, kill and delete that are killed can be tried again" {
  local command n
  for command in start kill delete; do
    for n in 5 20 40 60; do
      create
      [[ $command == start ]] || start
      [[ $command != delete ]] || { ocirun kill "$ID" KILL && eventually status_is stopped; }
      under_strace -e trace=all -e "inject=all:signal=KILL:when=$n" -- "$command" "$ID"
      run ocirun state "$ID"
      nothing_is_left || { echo "$command killed at call $n"; return 1; }
    done
  done
}

@test "without the newer system calls containers run all the same" {
  local name
  script 'test -c /dev/null && test -e /proc/self/status && ls /proc/self/fd | wc -l'
  for name in openat2 clone3 mount_setattr fsopen open_tree move_mount close_range pidfd_open pidfd_send_signal faccessat2; do
    under_strace -f -e "trace=$name" -e "inject=$name:error=ENOSYS" -- run --bundle "$BUNDLE" "$ID"
    [[ $status == 0 && $output == 4 ]] || { echo "without $name: status $status: $output"; return 1; }
  done
}

@test "a state root without space makes create fail and leaves nothing" {
  local size
  mkdir "$ROOT"
  for size in 4k 8k 12k 16k; do
    mount -t tmpfs -o "size=$size,mode=700" tmpfs "$ROOT"
    attempt create --bundle "$BUNDLE" "$ID"
    [[ $status == 0 || $status == 1 ]] || found
    ocirun delete --force "$ID"
    equal "" "$(ls "$ROOT")"
    umount "$ROOT"
  done
  rmdir "$ROOT"
}

@test "a read-only state root is an error with its path" {
  mkdir "$ROOT"
  mount -t tmpfs -o ro,mode=700 tmpfs "$ROOT"
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "read-only file system"
  umount "$ROOT"
}

@test "few file descriptors, processes or little address space are an error or no matter, never a leak" {
  local limit
  for limit in --nofile=4 --nofile=8 --nofile=12 --nofile=16 --nofile=24 --nofile=32 --nofile=64 --as=20000000; do
    status=0
    prlimit "$limit" timeout --foreground 20 "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" \
      </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || status=$?
    [[ $status == 0 || $status == 1 || $status == 127 ]] || { echo "$limit: $status"; cat "$TMP/output"; return 1; }
    nothing_is_left || { echo "$limit"; return 1; }
  done
}

@test "an init that is killed while it waits makes the container stopped, and start fails" {
  create
  kill -KILL "$(init_pid)"
  eventually status_is stopped
  run ocirun start "$ID"
  exits 1 stopped
  ocirun delete "$ID"
}

@test "SIGTERM during create tears down" {
  local pid rc=0
  config '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "touch " + $f + "; exec sleep 20"]}]' --arg f "$TMP/in-hook"
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  pid=$!
  eventually exists "$TMP/in-hook"
  local begin=$SECONDS
  kill -TERM "$pid"
  wait "$pid" || rc=$?
  [[ $rc != 0 ]]
  [[ $((SECONDS - begin)) -lt 10 ]] || { echo "create waited for the hook"; return 1; }
  nothing_is_left
}

@test "OOM of init is told apart: the message names the memory limit" {
  config '.linux.resources.memory = {limit: 65536, swap: 65536}'
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 memory
  untraced host_is_unchanged || { print_host_changes; return 1; }
}

@test "strings of 64 KiB and of 1 MiB anywhere are an error or no matter, never a crash" {
  local field size
  for size in 65535 65536 1048576; do
    for field in .hostname .process.cwd '.process.args[1]' '.process.env[2]' .root.path '.mounts[0].destination' '.mounts[1].options[3]' \
      '.linux.namespaces[0].path' .linux.cgroupsPath '.annotations["k"]' '.linux.maskedPaths[0]'; do
      python3 -c 'print("A=" + "/a" * (int(__import__("sys").argv[1]) // 2))' "$size" >"$TMP/long"
      cp "$BUNDLE/config.json" "$TMP/config.kept"
      config "$field = \$v" --rawfile v "$TMP/long"
      attempt create --bundle "$BUNDLE" "$ID"
      cp "$TMP/config.kept" "$BUNDLE/config.json"
      [[ $status == 0 || $status == 1 ]] || { echo "$field, $size: status $status: ${output:0:300}"; return 1; }
      ocirun delete --force "$ID"
    done
  done
}

@test "delete --force kills and removes what forks without end and nests cgroups" {
  config '.mounts[6].options -= ["ro"] | .linux.resources.pids = {limit: 60}'
  script 'for i in 1 2 3 4 5 6 7 8 9; do mkdir -p /sys/fs/cgroup/memory/a/b$i /sys/fs/cgroup/pids/x$i 2>/dev/null; done
    bomb() { bomb & bomb & sleep 1; }; bomb 2>/dev/null; echo ready >/ready; sleep 1000'
  create_and_start
  sleep 0.5
  run timeout 20 "$OCIRUN" --root "$ROOT" delete --force "$ID"
  succeeds
}
