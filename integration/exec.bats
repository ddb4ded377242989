load lib/common

# process FILTER: writes $TMP/process.json for --process: the process of config.json, edited by the filter.
process() { jq ".process | $1" "$BUNDLE/config.json" >"$TMP/process.json"; }

@test "exec gives the command's output and status, and takes stdin" {
  create_and_start
  run ocirun exec "$ID" sh -c 'echo out; exit 7'
  exits 7 out
  run ocirun exec "$ID" cat <<<"from the caller"
  succeeds "from the caller"
  run ocirun exec "$ID" sh -c 'kill -TERM $$'
  exits 143
  run ocirun exec "$ID" -- echo -- hi # as kubectl writes it
  succeeds "-- hi"
}

@test "exec's own failures have status 255 and runc's words" {
  create_and_start
  run ocirun exec "$ID" nosuch
  exits 255 'exec: "nosuch": executable file not found in $PATH'
  run ocirun exec "$ID" /no/such
  exits 255 'exec: "/no/such": stat /no/such: no such file or directory'
  run ocirun exec "$ID" /etc
  exits 255 'exec: "/etc": it is a directory, not a program: permission denied'
  run ocirun exec "$ID"
  exits 255
  run ocirun exec --bogus "$ID" true
  exits 255 bogus
}

@test "exec with a missing interpreter gives one line" {
  printf '#!/no/interpreter\n' >"$BUNDLE/rootfs/run.sh"
  chmod +x "$BUNDLE/rootfs/run.sh"
  create_and_start
  run ocirun exec "$ID" /run.sh
  exits 255 "exec /run.sh: its interpreter /no/interpreter does not exist in the container: no such file or directory"
  equal 1 "${#lines[@]}"
}

@test "exec stops reading options at the first word that is none" {
  create_and_start
  run ocirun exec "$ID" echo --cwd /tmp -t
  succeeds "--cwd /tmp -t"
  run ocirun exec "$ID" -- echo dashes
  [[ $status == 0 || $status == 255 ]]
}

@test "exec works on a created container, and not on a stopped one" {
  script true
  create
  run ocirun exec "$ID" echo fine
  succeeds fine
  start
  eventually status_is stopped
  run ocirun exec "$ID" true
  exits 255 stopped
}

@test "exec runs in all the container's namespaces and cgroups" {
  local type
  create_and_start
  helper "$OCIRUN" --root "$ROOT" exec --pid-file "$TMP/pid" "$ID" sleep 777
  eventually exists "$TMP/pid"
  for type in pid net ipc uts mnt cgroup; do
    equal "$(readlink "/proc/$(init_pid)/ns/$type")" "$(readlink "/proc/$(<"$TMP/pid")/ns/$type")"
  done
  equal "$(sed 's/^[0-9]*//' "/proc/$(init_pid)/cgroup")" "$(sed 's/^[0-9]*//' "/proc/$(<"$TMP/pid")/cgroup")"
}

@test "exec runs in a user and a time namespace too" {
  needs_time_namespaces
  user_namespace
  config '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {boottime: {secs: 7000000}}'
  create_and_start
  run ocirun exec "$ID" sh -c 'id -u; cat /proc/self/uid_map | xargs; cut -d. -f1 /proc/uptime'
  succeeds
  equal 0 "${lines[0]}"
  equal "0 100000 65536" "${lines[1]}"
  [[ ${lines[2]} -gt 7000000 ]]
}

@test "exec has the container's rights: capabilities, no_new_privs, rlimits, umask, user" {
  config '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 111, hard: 222}] | .process.user = {uid: 1000, gid: 1000, umask: 63, additionalGids: [5]}'
  create_and_start
  run ocirun exec "$ID" sh -c 'id -u; id -G; umask; ulimit -n; grep -E "NoNewPrivs|CapEff|CapBnd" /proc/self/status | xargs'
  succeeds $'1000\n1000 5\n0077\n111\nCapEff: 0000000000000000 CapBnd: 0000000020000420 NoNewPrivs: 1'
}

@test "exec --cwd, --env, --user, --additional-gids" {
  create_and_start
  run ocirun exec --cwd /tmp "$ID" pwd
  succeeds /tmp
  run ocirun exec -e A=1 --env B=2 -e A=3 "$ID" sh -c 'echo $A $B $TERM'
  succeeds "3 2 xterm"
  run ocirun exec --user 1000:5 "$ID" sh -c 'id -u; id -g; echo $HOME'
  succeeds $'1000\n5\n/home/web'
  run ocirun exec -u 1 "$ID" id -u
  succeeds 1
  run ocirun exec -u 1000 -g 7 -g 8 "$ID" id -G
  output_mentions "7 8"
}

@test "exec --cwd must be absolute and be there" {
  create_and_start
  run ocirun exec --cwd tmp "$ID" true
  exits 255
  run ocirun exec --cwd /no/such "$ID" true
  exits 255 "no such file or directory"
}

@test "exec --no-new-privs sets it" {
  config '.process.noNewPrivileges = false'
  create_and_start
  run ocirun exec --no-new-privs "$ID" grep NoNewPrivs /proc/self/status
  succeeds $'NoNewPrivs:\t1'
}

@test "exec --process takes the whole process from a file" {
  create_and_start
  process '.args = ["sh", "-c", "pwd; id -u; echo $NEW; cat /proc/self/oom_score_adj"] | .cwd = "/tmp" | .user = {uid: 5, gid: 6} | .env += ["NEW=x"] | .oomScoreAdj = 200'
  run ocirun exec --process "$TMP/process.json" "$ID"
  succeeds $'/tmp\n5\nx\n200'
  run ocirun exec -p "$TMP/process.json" "$ID"
  succeeds
}

@test "exec --process says what of the file and of the command line has no effect" {
  create_and_start
  process '.args = ["echo", "from the file"] | .envv = []'
  run ocirun exec --process "$TMP/process.json" "$ID" echo no
  succeeds
  output_mentions "from the file"
  output_mentions '/envv: unknown name, ignored (did you mean env?)'
  output_mentions '"echo" on the command line is ignored'
}

@test "exec --process takes a pipe, an open descriptor, a FIFO, /dev/stdin and -, which the process does not get" {
  create_and_start
  process '.args = ["sh", "-c", "echo /proc/self/fd/*"]'
  local name open='/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3' # 3: the directory that the shell reads
  run ocirun exec --process "$TMP/process.json" "$ID"
  succeeds
  [ "$(wc -w <<<"$output")" -le 4 ]
  open=$output
  for name in - /dev/stdin /dev/fd/0; do
    run ocirun exec --process "$name" "$ID" < <(cat "$TMP/process.json")
    succeeds "$open"
  done
  run ocirun exec --process <(cat "$TMP/process.json") "$ID"
  succeeds "$open"
  for name in /dev/fd/9 /proc/self/fd/9; do
    run ocirun exec --process "$name" "$ID" 9<"$TMP/process.json"
    succeeds "$open"
  done
  mkfifo "$TMP/fifo"
  cat "$TMP/process.json" >"$TMP/fifo" &
  run ocirun exec --process "$TMP/fifo" "$ID"
  succeeds "$open"
}

@test "exec --process with a descriptor that is not open names it, and a signal ends the wait for a FIFO" {
  create_and_start
  run ocirun exec --process /dev/fd/77 "$ID"
  exits 255 '--process: /dev/fd/77: read: bad file descriptor'
  mkfifo "$TMP/fifo"
  helper "$OCIRUN" --root "$ROOT" exec --process "$TMP/fifo" "$ID"
  eventually waits "$HELPER"
  ends_by_term "$HELPER"
}

@test "exec --process that is missing, malformed or invalid is refused with status 255" {
  create_and_start
  run ocirun exec --process /no/such "$ID"
  exits 255 /no/such
  echo '{' >"$TMP/process.json"
  run ocirun exec --process "$TMP/process.json" "$ID"
  exits 255
  process '.cwd = "x"'
  run ocirun exec --process "$TMP/process.json" "$ID"
  exits 255 cwd
}

@test "exec --detach returns at once, writes the pid file, and the process becomes the caller's child" {
  create_and_start
  helper "$LIB/subreaper" "$OCIRUN" --root "$ROOT" exec --detach --pid-file "$TMP/pid" "$ID" \
    sh -c 'until [ -e /go ]; do sleep 0.02; done; exit 33'
  eventually contains "$TMP/helper.log" "command"
  equal "command 0" "$(<"$TMP/helper.log")"
  touch "$BUNDLE/rootfs/go"
  eventually has_ended "$HELPER"
  [[ $(sed 1d "$TMP/helper.log") == "orphan $(<"$TMP/pid") 33 "* ]] || { cat "$TMP/helper.log" && false; }
  equal 0 "$(wc -l <"$TMP/pid")"
}

@test "exec's process leads a session of its own" {
  create_and_start
  run ocirun exec "$ID" sh -c 'cut -d" " -f1,6 /proc/$$/stat'
  succeeds
  equal "${output% *}" "${output#* }"
}

@test "exec leaves only 0, 1 and 2 open, plus --preserve-fds" {
  create_and_start
  run ocirun exec "$ID" sh -c 'ls /proc/self/fd | xargs' 7</etc/passwd
  succeeds "0 1 2 3"
  run ocirun exec --preserve-fds 1 "$ID" sh -c 'cat <&3' 3<<<three
  succeeds three
}

@test "exec does not let the caller's environment in" {
  create_and_start
  SECRET=leak run ocirun exec "$ID" env
  output_never_mentions leak
  output_mentions TERM=xterm
}

@test "exec is refused on a paused container unless --ignore-paused" {
  create_and_start
  ocirun pause "$ID"
  # No clone may happen: an exec that does not check first makes its process and gives the same message ten seconds later.
  run timeout 60 strace -qq -o "$TMP/trace" -e trace=clone,clone3 "$OCIRUN" --root "$ROOT" exec "$ID" true
  exits 255 "cannot exec in a paused container (resume it, or give --ignore-paused)"
  equal "" "$(<"$TMP/trace")"
  helper "$OCIRUN" --root "$ROOT" exec --ignore-paused "$ID" touch /ran
  eventually two_are_in_it
  [[ ! -e $BUNDLE/rootfs/ran ]]
  ocirun resume "$ID"
  eventually exists "$BUNDLE/rootfs/ran"
}

two_are_in_it() { [[ $(ocirun ps --format json "$ID" | jq length) == 2 ]]; }

@test "exec reads the snapshot of config.json, not the bundle" {
  create_and_start
  config '.process.user.uid = 1000 | .process.env = ["PATH=/nowhere"]'
  run ocirun exec "$ID" id -u
  succeeds 0
  rm "$BUNDLE/config.json"
  run ocirun exec "$ID" id -u
  succeeds 0
}

@test "P-18 execCPUAffinity holds for exec and not for init; a bad list is refused" {
  [[ $(nproc --all) -gt 1 ]] || skip "this host has one CPU"
  config '.process.execCPUAffinity = {initial: "0", final: "1"}'
  create_and_start
  equal "$(grep Cpus_allowed_list /proc/1/status)" "$(grep Cpus_allowed_list "/proc/$(init_pid)/status")"
  run ocirun exec "$ID" grep Cpus_allowed_list /proc/self/status
  succeeds $'Cpus_allowed_list:\t1'
  ocirun delete --force "$ID"
  refused execCPUAffinity '.process.execCPUAffinity = {initial: "a"}'
  refused execCPUAffinity '.process.execCPUAffinity = {final: "3-1"}'
}

@test "exec resets an inherited CPU affinity" {
  create_and_start
  run taskset -c 0 "$OCIRUN" --root "$ROOT" exec "$ID" grep Cpus_allowed_list /proc/self/status
  succeeds "$(grep Cpus_allowed_list /proc/1/status)"
}

@test "P-10 exec warns of a capability that it cannot grant" {
  grep -q 'CapBnd.*fffeffffff' /proc/self/status || skip "this host lacks no capability that can be asked for"
  create_and_start
  run --separate-stderr ocirun exec --cap CAP_SYS_RESOURCE "$ID" echo fine
  succeeds fine
  [[ $stderr == *CAP_SYS_RESOURCE* ]]
}

@test "P-10 what create has warned of, exec does not warn of again, and one line names it for all sets" {
  grep -q 'CapBnd.*fffeffffff' /proc/self/status || skip "this host lacks no capability that can be asked for"
  local all='["CAP_KILL", "CAP_SYS_RESOURCE", "CAP_NET_RAW"]'
  config ".process.capabilities = {bounding: $all, permitted: $all, effective: $all, inheritable: $all, ambient: $all}"
  ocirun create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 3>&- 4>&-
  equal 1 "$(grep -c CAP_SYS_RESOURCE "$TMP/out")"
  ocirun start "$ID"
  run --separate-stderr ocirun exec "$ID" echo fine
  succeeds fine
  [[ -z $stderr ]]
}

@test "P-10 P-12 exec --cap is ambient where the container's inheritable set has it, and an unknown one is a warning" {
  config '.process.capabilities = {bounding: ["CAP_KILL"], permitted: [], effective: [], inheritable: ["CAP_KILL"], ambient: []}'
  create_and_start
  run ocirun exec --user 1000:1000 --cap CAP_KILL "$ID" grep CapAmb /proc/self/status
  succeeds $'CapAmb:\t0000000000000020'
  run ocirun exec --user 1000:1000 --cap CAP_NET_RAW "$ID" grep CapAmb /proc/self/status
  succeeds $'CapAmb:\t0000000000000000'
  run ocirun exec --cap net_raw "$ID" echo fine
  succeeds
  output_mentions '--cap net_raw: unknown capability: it is not granted (did you mean CAP_NET_RAW?)'
  output_mentions fine
  run ocirun exec --cap NETADMIN --cap CAP_SYS_ADMNI --cap ALL "$ID" echo fine
  succeeds
  output_mentions '--cap NETADMIN: unknown capability: it is not granted (did you mean CAP_NET_ADMIN?)'
  output_mentions '--cap CAP_SYS_ADMNI: unknown capability: it is not granted (did you mean CAP_SYS_ADMIN?)'
  output_mentions '--cap ALL: unknown capability: it is not granted (a name is written as in CAP_NET_RAW)'
}

@test "P-12 ambient capabilities without inheritable ones, as runc spec writes them, are no warning" {
  config '.process.capabilities = {bounding: ["CAP_KILL"], permitted: ["CAP_KILL"], effective: ["CAP_KILL"], ambient: ["CAP_KILL"]}
    | .process.args = ["grep", "CapAmb", "/proc/self/status"]'
  run ocirun run --bundle "$BUNDLE" "$ID"
  succeeds $'CapAmb:\t0000000000000000'
  run ocirun --log "$TMP/log" --debug run --bundle "$BUNDLE" "$ID"
  succeeds
  contains "$TMP/log" "/process/capabilities/ambient: CAP_KILL not granted"
}

@test "exec makes a session keyring where create was to make one, and only there" {
  create_and_start --no-new-keyring
  strace -f -qq -o "$TMP/trace" -e trace=keyctl "$OCIRUN" --root "$ROOT" exec "$ID" true
  [[ ! -s $TMP/trace ]]
  ocirun delete --force "$ID"
  create_and_start
  strace -f -qq -o "$TMP/trace" -e trace=keyctl "$OCIRUN" --root "$ROOT" exec "$ID" true
  grep -q KEYCTL_JOIN_SESSION_KEYRING "$TMP/trace"
}

@test "P-1 exec in a container without a process starts in /" {
  config 'del(.process)'
  create
  run ocirun exec "$ID" pwd
  succeeds /
}

@test "exec --cgroup joins a sub-cgroup of the container, and no other" {
  create_and_start
  local of=memory:
  if pure_v2; then of=; fi
  mkdir "$(cgroup memory)/sub"
  run ocirun exec --cgroup "${of}sub" "$ID" grep "${of:-0:}" /proc/self/cgroup
  succeeds
  output_mentions /sub
  run ocirun exec --cgroup "${of}../.." "$ID" true
  exits 255
  run ocirun exec --cgroup nosuch "$ID" true
  exits 255
  run ocirun exec --cgroup :sub "$ID" true
  exits 255 "names no controller before the colon"
}

# Enables a controller in the unified hierarchy (cgroup.subtree_control). The sandbox undoes that at its end.
unified_with_controller() {
  UNIFIED=/sys/fs/cgroup/unified
  if pure_v2; then UNIFIED=/sys/fs/cgroup; fi
  # Not a threaded controller (cpu, pids): with one of these enabled, processes may stay in the cgroup.
  CONTROLLER=$(tr ' ' '\n' <"$UNIFIED/cgroup.controllers" 2>/dev/null | grep -xE 'memory|io|hugetlb' | head -n 1) || true
  [[ -n $CONTROLLER ]] || skip "no controller of processes in the unified hierarchy of this host"
  echo "+$CONTROLLER" >"$UNIFIED/cgroup.subtree_control"
}

# Does what systemd does in a container: moves init to a leaf, and enables the controller in the container's top cgroup.
move_init_down() {
  local top=$UNIFIED/$ID
  mkdir -p "$top/a/init"
  init_pid >"$top/a/init/cgroup.procs"
  echo "+$CONTROLLER" >"$top/cgroup.subtree_control"
  echo "+$CONTROLLER" >"$top/a/cgroup.subtree_control"
}

@test "exec follows init into the sub-cgroup of a container that governs its own" {
  unified_with_controller
  create_and_start
  move_init_down
  run ocirun exec "$ID" cat /proc/self/cgroup
  succeeds
  output_mentions "0::/a/init"
  run ocirun exec --cgroup "$CONTROLLER:a/init" "$ID" true
  succeeds
  run ocirun exec --cgroup "$CONTROLLER:a" "$ID" true
  exits 255 "join the container's cgroup"
  mkdir "$UNIFIED/$ID-elsewhere"
  init_pid >"$UNIFIED/$ID-elsewhere/cgroup.procs"
  run ocirun exec "$ID" true
  exits 255 "hands controllers down"
  [[ $(<"$UNIFIED/$ID-elsewhere/cgroup.procs") == "$(init_pid)" ]]
  init_pid >"$UNIFIED/$ID/a/init/cgroup.procs"
  rmdir "$UNIFIED/$ID-elsewhere"
}

@test "exec in a container whose init was replaced by kill says so" {
  create_and_start
  ocirun kill "$ID" KILL
  eventually status_is stopped
  run ocirun exec "$ID" true
  exits 255
}

# A cgroup that is being removed gives ENODEV for a moment, then ENOENT.
@test "exec whose container is deleted before its process is made says that it stopped" {
  local fault
  for fault in delay_enter=1s error=ENODEV:delay_enter=1s; do
    create_and_start
    meets_a_delete_at "clone,clone3:$fault" exec "$ID" true
    exits 255 "cannot exec in a stopped container"
  done
}

@test "R-26 exec needs room for one process, in a user namespace and with a terminal too" {
  needs_controller pids
  config '.linux.resources.pids.limit = 2'
  create_and_start
  run ocirun exec "$ID" echo fine
  succeeds fine
  run ocirun exec --tty "$ID" tty
  succeeds
  output_mentions /dev/pts/0
  ocirun delete --force "$ID"
  user_namespace
  create_and_start
  run ocirun exec "$ID" cat /proc/self/cgroup
  succeeds
  pure_v2 || output_mentions ":pids:/"
}

@test "R-26 exec heeds the limit on processes of a cgroup above the container's, and of one below" {
  needs_controller pids
  config '.linux.cgroupsPath = $p | .linux.resources.pids.limit = 100' --arg p "/$ID/box"
  create_and_start
  local above below
  above=$(cgroup pids) below=$(cgroup pids "$ID/box")/sub
  echo 1 >"$above/pids.max"
  attempt exec "$ID" true
  exits 255 "$above, whose pids.max is 1"
  eventually alone_in_container
  echo 2 >"$above/pids.max"
  run ocirun exec "$ID" echo fine
  succeeds fine
  pure_v2 && return # there a cgroup with enabled controllers takes no process
  echo max >"$above/pids.max"
  mkdir "$below"
  echo 0 >"$below/pids.max"
  attempt exec --cgroup pids:sub "$ID" true
  exits 255 "$below, whose pids.max is 0"
  echo 1 >"$below/pids.max"
  run ocirun exec --cgroup pids:sub "$ID" echo fine
  succeeds fine
}

@test "R-26 exec into a container that has all the processes it may have names the limit" {
  needs_controller pids
  config '.linux.resources.pids.limit = 1'
  create_and_start
  attempt exec "$ID" true
  exits 255 "/linux/resources/pids/limit, which is 1, may leave no room"
  eventually alone_in_container
}

# bats test_tags=exhaustive
@test "fifty execs at once all succeed" {
  local n failed=0 pids=()
  create_and_start
  for n in {1..50}; do
    # 100 s: with sanitizers on a busy machine all fifty together take more than 30 s.
    timeout 100 "$OCIRUN" --root "$ROOT" exec "$ID" sh -c "echo $n" </dev/null >"$TMP/out.$n" 2>&1 3>&- 4>&- &
    pids+=($!)
  done
  wait "${pids[@]}"
  for n in {1..50}; do [[ $(<"$TMP/out.$n") == "$n" ]] || { cat "$TMP/out.$n"; failed=1; }; done
  equal 0 "$failed"
}

@test "an exec whose stage cannot tell of its process, or dies before it does, ends with an error" {
  local fault
  create_and_start
  for fault in error=ENOMEM signal=KILL; do
    run -255 timeout 20 strace -f -o "$TMP/trace" -e trace=sendmsg -e "inject=sendmsg:$fault:when=1" "$OCIRUN" --root "$ROOT" exec "$ID" true
    output_mentions "while it"
    eventually alone_in_container
  done
}

alone_in_container() { [[ $(ocirun ps --format json "$ID") == "[$(init_pid)]" ]]; }

@test "exec reaches a container whose main thread has ended while another one lives" {
  command -v gcc >/dev/null || skip "needs gcc"
  gcc -static -pthread -o "$BUNDLE/rootfs/bin/threads" -x c - <<<'#include <pthread.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static void* live(void* unused) { for (;;) pause(); return unused; }
    int main(void) { pthread_t thread; pthread_create(&thread, 0, live, 0); usleep(50000); syscall(SYS_exit, 0); }'
  program /bin/threads
  create_and_start
  eventually eval '[[ $(awk "/^State/ {print \$2}" "/proc/$(state pid)/status") == Z ]]'
  status_is running
  run ocirun exec "$ID" sh -c 'echo inside; ls -d /bin/threads'
  succeeds $'inside\n/bin/threads'
}

@test "exec joins all namespaces with one setns, and one by one where setns takes no pidfd" {
  needs_system_call pidfd_open "one setns for all namespaces"
  create_and_start
  run -0 strace -f -qq -o "$TMP/trace" -e trace=setns "$OCIRUN" --root "$ROOT" exec "$ID" true
  [[ $(grep -c 'setns(' "$TMP/trace") == 1 ]]
  run -0 strace -f -qq -o "$TMP/trace" -e trace=setns -e inject=setns:error=EINVAL:when=1 "$OCIRUN" --root "$ROOT" exec "$ID" true
  [[ $(grep -c 'setns(' "$TMP/trace") -gt 2 ]]
}
