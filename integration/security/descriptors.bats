# Attacks on the runtime's processes that are between the host and the container: their open descriptors, and tracing them.
# shellcheck disable=SC2016 # what is quoted runs in containers
load harness

@test "runc CVE-2016-9962 CVE-2024-21626 the waiting init holds no directory of the host" {
  create
  holds_no_directory "$(init_pid)"
  equal 1 "$(cut -d' ' -f5 "/proc/$(init_pid)/mountinfo" | grep -cx /)" # the old root is not mounted any more
  ocirun delete --force "$ID"
  ocirun create --bundle "$BUNDLE" --preserve-fds 1 "$ID" </dev/null >"$TMP/output" 2>&1 3<"$DECOY" 4>&- # on purpose
  detector_catches holds_no_directory "$(init_pid)"
}

# holds_no_directory PID: the process has no directory open, except a detached procfs with subset=pid, which no mount namespace shows.
holds_no_directory() {
  local fd mount
  for fd in "/proc/$1/fd"/*; do
    [[ -d $fd ]] || continue
    mount=$(sed -n 's/^mnt_id:\s*//p' "/proc/$1/fdinfo/${fd##*/}")
    [[ $(stat -f -c %T "$fd/") == proc ]] && ! grep -q "^$mount " "/proc/$1/mountinfo" && continue
    echo "descriptor ${fd##*/} is the directory $(readlink "$fd")"
    return 1
  done
}

@test "runc CVE-2016-9962 the waiting init holds its streams and the start socket, of joined namespaces nothing" {
  helper unshare --net --uts sleep 1000
  eventually other_uts
  set_namespace network "/proc/$HELPER/ns/net"
  set_namespace uts "/proc/$HELPER/ns/uts"
  create
  holds_one_socket "$(init_pid)"
  ocirun delete --force "$ID"
  ocirun create --bundle "$BUNDLE" --preserve-fds 1 "$ID" </dev/null >"$TMP/output" 2>&1 3<"/proc/$HELPER/ns/net" 4>&- # on purpose
  detector_catches holds_one_socket "$(init_pid)"
}

other_uts() { [[ $(readlink "/proc/$HELPER/ns/uts") != "$(readlink /proc/self/ns/uts)" ]]; }

# holds_one_socket PID: the process has one socket open, and nothing else but its standard streams.
holds_one_socket() {
  local fd found=()
  for fd in "/proc/$1/fd"/*; do
    [[ ${fd##*/} -le 2 ]] || found+=("$(readlink "$fd")")
  done
  [[ ${#found[@]} == 1 && ${found[0]} == socket:* ]] || { echo "open: ${found[*]}"; return 1; }
}

@test "runc CVE-2024-21626 the program has standard streams only, from run and from exec" {
  inside 'ls /proc/self/fd | xargs'
  streams_only
  program sleep 1000
  create_and_start
  run ocirun exec "$ID" sh -c 'ls /proc/self/fd | xargs'
  streams_only
  output=$(ocirun exec --preserve-fds 1 "$ID" sh -c 'ls /proc/self/fd | xargs' 3<"$DECOY")
  detector_catches streams_only
}

# The program has its standard streams alone; 3 is the directory that ls reads.
streams_only() { prints "0 1 2 3"; }

# A script that shows the decoy's file if its working directory is outside of the container's root.
LOOK_OUT='for up in . .. ../.. ../../.. ../../../../../../../../..; do cat "$up$1/file" "./$up$1/file"; done 2>/dev/null; exit 0'

@test "runc CVE-2024-21626 a working directory in /proc/self/fd never leaves the root: run" {
  local n form
  script 'set -- '"$DECOY; $LOOK_OUT"
  for n in {3..23}; do
    for form in "/proc/self/fd/$n" "/proc/self/fd/$n/../../.."; do
      config '.process.cwd = $c' --arg c "$form"
      run_container
      secret_is_kept
    done
  done
  plant /link /proc/self/fd/7
  config '.process.cwd = "/link"'
  run_container
  secret_is_kept
  config '.process.cwd = "/proc/self/fd/7"' # `naive` leaves descriptor 7 open
  run_naive
  detector_catches secret_is_kept
}

@test "runc CVE-2024-21626 a working directory in /proc/self/fd never leaves the root: exec" {
  local n
  create_and_start
  for n in {3..23}; do
    run ocirun exec --cwd "/proc/self/fd/$n" "$ID" sh -c "set -- $DECOY; $LOOK_OUT"
    [[ $status != 0 ]] || fail_with_output
    secret_is_kept
  done
  # A directory of the host that is passed on purpose is refused as cwd too: getcwd(2) says that it is unreachable.
  status=0
  output=$(ocirun exec --preserve-fds 1 --cwd /proc/self/fd/3 "$ID" sh -c "set -- $DECOY; $LOOK_OUT" 2>&1 3</) || status=$?
  [[ $status != 0 ]] || fail_with_output
  secret_is_kept
  output=$(ocirun exec --preserve-fds 1 "$ID" sh -c "cd /proc/self/fd/3; set -- $DECOY; $LOOK_OUT" 3</)
  detector_catches secret_is_kept # the program itself may change to it
}

@test "runc CVE-2024-21626 a program named /proc/self/fd/N is none of the host's" {
  local n
  for n in {3..23}; do
    config '.process.args = [$a, "secret of the host"]' --arg a "/proc/self/fd/$n/usr/bin/printf"
    run_container
    secret_is_kept
    [[ $status != 0 ]] || fail_with_output
  done
  exec 7</
  run /proc/self/fd/7/usr/bin/printf "secret of the host"
  exec 7<&-
  detector_catches secret_is_kept
}

# --- who may look into the runtime ------------------------------------------------------------------

# Makes the spy, a program in the container that tries to trace each new process and to reach the decoy through it.
write_spy() {
  cat >"$BUNDLE/rootfs/attack/spy" <<'SPY'
import ctypes, errno, os, sys
libc, decoy, known = ctypes.CDLL(None, use_errno=True), sys.argv[1], set(os.listdir("/proc"))
seen = set()
def log(line):
    if line not in seen: open("/attack/log", "a").write(line + "\n")
    seen.add(line)
def look(pid):
    for way in ("root", "cwd", "cwd/../../../../../../../..", "fd/3", "fd/4", "fd/5", "fd/6", "fd/7", "fd/8"):
        try:
            if "secret" in open(f"/proc/{pid}/{way}/{decoy}/file").read(): log(f"reached {way}")
        except OSError: pass
open("/attack/ready", "w")
while True:
    for pid in set(os.listdir("/proc")) - known:
        if not pid.isdigit(): continue
        look(pid)
        if libc.ptrace(0x4206, int(pid), 0, 0) != 0:  # PTRACE_SEIZE
            log(f"tried {errno.errorcode[ctypes.get_errno()]}")
            continue
        log("traced")
        known.add(pid)
        libc.ptrace(0x4207, int(pid), 0, 0)  # PTRACE_INTERRUPT: stops it
        os.waitpid(int(pid), 0x40000000)
        look(pid)
        libc.ptrace(17, int(pid), 0, 0)  # PTRACE_DETACH
SPY
}

start_spy() {
  with_python
  write_spy
  program python3 /attack/spy "$DECOY"
  create_and_start
  eventually exists "$BUNDLE/rootfs/attack/ready"
}

spy_saw() { grep -q "$1" "$BUNDLE/rootfs/attack/log" 2>/dev/null; }
nothing_was_reached() { ! spy_saw reached || { echo "the spy reached the host"; return 1; }; }
nothing_was_traced() { ! spy_saw traced || { echo "the spy traced a process"; return 1; }; }

# exec's program has one capability more than the spy, so that the spy may not trace it after its execve either.
@test "runc CVE-2016-9962 a hundred execs: without CAP_SYS_PTRACE no process of the runtime can be traced" {
  local n
  start_spy
  for n in {1..100}; do ocirun exec --cap CAP_NET_RAW "$ID" true; done
  eventually spy_saw tried
  nothing_was_traced
  nothing_was_reached
  equal "" "$(grep -vE '^tried (EPERM|EACCES|ESRCH)$' "$BUNDLE/rootfs/attack/log")"
  ocirun exec --detach "$ID" sleep 1000 </dev/null >/dev/null 2>&1 3>&- 4>&- # a program with the spy's capabilities
  eventually spy_saw traced
  detector_catches nothing_was_traced
}

@test "runc CVE-2016-9962 a hundred execs: with CAP_SYS_PTRACE nothing of the host is reached through the runtime" {
  local n
  capabilities CAP_SYS_PTRACE CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH
  start_spy
  for n in {1..100}; do ocirun exec "$ID" true; done
  eventually spy_saw traced
  nothing_was_reached
  helper nsenter -t "$(init_pid)" -p -- sleep 1000 # enters the pid namespace and keeps the host's root
  eventually spy_saw reached
  detector_catches nothing_was_reached
}

# The user namespace belongs to the user, who may trace the container's program after its execve. Before, init is the runtime.
@test "bubblewrap CVE-2016-8659 CVE-2026-41163 the user who owns the container cannot trace init before its execve" {
  by_runtime_alone "containerd and its shim are root's"
  config '.linux.namespaces += [{type: "user"}] | del(.linux.resources, .linux.cgroupsPath)
    | .linux.uidMappings = [{containerID: 0, hostID: 12345, size: 1}] | .linux.gidMappings = .linux.uidMappings
    | (.mounts[] | select(.type == "devpts")).options -= ["gid=5"]'
  chown -R 12345:12345 "$BUNDLE"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  install -d -o 12345 "$ROOT"
  as_user "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  refuses_tracing "$(init_pid)"
  as_user "$OCIRUN" --root "$ROOT" start "$ID"
  eventually runs_sleep
  detector_catches refuses_tracing "$(init_pid)"
}

as_user() { setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin timeout 30 "$@"; }
runs_sleep() { [[ $(tr '\0' ' ' <"/proc/$(init_pid)/cmdline") == sleep* ]]; }

# refuses_tracing PID: uid 12345 may not trace the process.
refuses_tracing() {
  equal EPERM "$(as_user python3 -c '
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
print("traced" if libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0 else errno.errorcode[ctypes.get_errno()])' "$1")"
}

@test "bubblewrap CVE-2020-5291 when the user namespace cannot be made, nothing runs with the caller's rights instead" {
  by_runtime_alone "containerd and its shim are root of the host"
  echo 'echo ran >/ran' >"$BUNDLE/rootfs/job"
  program sh /job
  user_namespace
  config '.linux.uidMappings[0] = {containerID: 0, hostID: 0, size: 1} | .linux.gidMappings[0] = {containerID: 0, hostID: 0, size: 1} | del(.linux.resources, .linux.cgroupsPath)
    | (.mounts[] | select(.type == "devpts")).options -= ["gid=5"]'
  chown -R 0:0 "$BUNDLE/rootfs"
  limited_namespaces 0
  [[ $status != 0 ]] || fail_with_output
  nothing_ran
  limited_namespaces 100
  detector_catches nothing_ran
}

nothing_ran() { [[ ! -e $BUNDLE/rootfs/ran ]] || { echo "the program ran"; return 1; }; }

# limited_namespaces N: `run` by root of a user namespace in which N more user namespaces may be made.
limited_namespaces() {
  run timeout 30 unshare --user --map-root-user --mount sh -c "echo $1 >/proc/sys/user/max_user_namespaces && exec \"\$0\" \"\$@\"" \
    "$OCIRUN" --root "$ROOT" --cgroup-manager disabled run --bundle "$BUNDLE" "$ID"
}
