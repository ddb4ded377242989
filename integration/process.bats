load lib/common

@test "P-4 cwd is required and absolute" {
  refused /process/cwd 'del(.process.cwd)'
  refused /process/cwd '.process.cwd = ""'
  refused /process/cwd '.process.cwd = "tmp"'
}

@test "P-4 the program starts in cwd, also in one that only its user may enter" {
  config '.process.cwd = "/tmp"'
  inside pwd
  succeeds /tmp
  mkdir -m 700 "$BUNDLE/rootfs/own"
  chown 1000:1000 "$BUNDLE/rootfs/own"
  config '.process.cwd = "/own" | .process.user = {uid: 1000, gid: 1000} | .process.capabilities = {}'
  inside pwd
  succeeds /own
}

@test "P-4 in a user namespace cwd may be one that not even its root may enter, but its user" {
  user_namespace
  install -d -m 750 -o 5 -g 101000 "$BUNDLE/rootfs/groups" # with an owner that has no id in the user namespace
  config '.process.cwd = "/groups" | .process.user = {uid: 0, gid: 0}'
  inside pwd
  exits 1 "change to /groups: permission denied"
  config '.process.user = {uid: 1000, gid: 1000}'
  inside pwd
  succeeds /groups
}

@test "P-4 a cwd that is a file is refused" {
  refused "not a directory" '.process.cwd = "/etc/passwd"'
}

@test "P-5 env is the program's whole environment, in order" {
  config '.process.env = ["PATH=/bin", "B=2", "A=1", "EMPTY=", "E=a=b"]'
  program env
  run_container
  succeeds
  equal $'A=1\nB=2\nE=a=b\nEMPTY=\nPATH=/bin' "$(grep -v ^HOME= <<<"$output" | sort)"
}

@test "P-5 an entry without = or without a name is refused" {
  refused /process/env/2 '.process.env += ["NOVALUE"]'
  refused /process/env/2 '.process.env += ["=x"]'
}

@test "P-5 of a name that is there twice the last value counts, also among thousands" {
  config '.process.env = [range(20000) | "N\(.)=\(.)"] + .process.env + ["N7=again"]'
  inside 'echo "$N7 $N8 $N19999"'
  succeeds "again 8 19999"
}

@test "P-5 HOME comes from the container's passwd, else it is /" {
  inside 'echo $HOME'
  succeeds /root
  config '.process.user = {uid: 1000, gid: 1000}'
  inside 'echo $HOME'
  succeeds /home/web
  config '.process.user = {uid: 4321, gid: 1}'
  inside 'echo $HOME'
  succeeds /
  config '.process.env += ["HOME="]'
  config '.process.user = {uid: 1000, gid: 1000}'
  inside 'echo $HOME'
  succeeds /home/web
  config '.process.env += ["HOME=/elsewhere"]'
  inside 'echo $HOME'
  succeeds /elsewhere
}

@test "P-6 args needs at least one entry" {
  refused /process/args 'del(.process.args)'
  refused /process/args '.process.args = []'
}

@test "P-6 the program is looked up in the container's PATH, not the runtime's" {
  mkdir "$BUNDLE/rootfs/special"
  printf '#!/bin/sh\necho found\n' >"$BUNDLE/rootfs/special/tool"
  chmod +x "$BUNDLE/rootfs/special/tool"
  program tool
  PATH=$PATH:/special refused 'exec: "tool": executable file not found in $PATH'
  config '.process.env = ["PATH=/bin:/special"]'
  run_container
  succeeds found
}

@test "P-6 a program that is missing, not executable or a directory fails at create, in runc's words and with the cause" {
  printf '#!/bin/sh\n' >"$BUNDLE/rootfs/etc/noexec"
  refused 'exec: "nosuch": executable file not found in $PATH' '.process.args = ["nosuch"]'
  refused 'exec: "/no/such": stat /no/such: no such file or directory' '.process.args = ["/no/such"]'
  refused 'exec: "/etc/noexec": it has no x bit for user 0 (its mode is 0644: chmod +x in the image or volume): permission denied' \
    '.process.args = ["/etc/noexec"]'
  refused 'exec: "/etc": it is a directory, not a program: permission denied' '.process.args = ["/etc"]'
  mkfifo "$BUNDLE/rootfs/etc/fifo"
  refused 'exec: "/etc/fifo": it is no regular file: permission denied' '.process.args = ["/etc/fifo"]'
  chmod +x "$BUNDLE/rootfs/etc/noexec" # what the message says
  program /etc/noexec
  run_container
  succeeds
}

@test "P-6 a program of PATH that may not be executed is told as permission denied, unless a later one may" {
  mkdir "$BUNDLE/tools"
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/tools/busybox2"
  add_mount '{"destination": "/noexec", "type": "bind", "source": "tools", "options": ["bind", "noexec"]}'
  config '.process.env = ["PATH=/noexec:/bin"]'
  refused 'exec: "busybox2": /noexec/busybox2: it lies on a mount with the option noexec: permission denied' '.process.args = ["busybox2", "echo", "fine"]'
  cp "$BUNDLE/tools/busybox2" "$BUNDLE/rootfs/bin/"
  chmod 0644 "$BUNDLE/rootfs/bin/busybox2"
  refused 'exec: "busybox2": /bin/busybox2: it has no x bit for user 0 (its mode is 0644: chmod +x' \
    '.process.args = ["busybox2", "echo", "fine"] | .process.env = ["PATH=/etc:/bin"]'
  chmod 0755 "$BUNDLE/rootfs/bin/busybox2"
  program busybox2 echo fine
  run_container
  succeeds fine
}

@test "P-6 a directory of PATH that the user may not search hides what it holds" {
  mkdir -m 0700 "$BUNDLE/rootfs/secret"
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/secret/tool"
  config '.process.env = ["PATH=/secret:/bin"] | .process.user = {uid: 1000, gid: 1000}'
  refused 'exec: "tool": executable file not found in $PATH' '.process.args = ["tool"]'
  refused 'exec: "/secret/tool": it lies in a directory without an x bit for user 1000: permission denied' '.process.args = ["/secret/tool"]'
}

@test "P-6 who may execute a program is decided as execve does: by the effective capabilities" {
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/etc/busybox2"
  chmod 0100 "$BUNDLE/rootfs/etc/busybox2"
  config '.process.user = {uid: 1000, gid: 1000} | .process.env = ["PATH=/etc"]'
  refused 'exec: "/etc/busybox2": it has no x bit for user 1000 (its mode is 0100: chmod +x in the image or volume): permission denied' \
    '.process.args = ["/etc/busybox2", "echo", "fine"]'
  local name
  config '.process.capabilities = (["CAP_DAC_OVERRIDE"] | {bounding: ., effective: ., permitted: ., inheritable: ., ambient: .})'
  for name in /etc/busybox2 busybox2; do
    program "$name" echo fine
    run_container
    succeeds fine
  done
}

@test "P-6 a text without an interpreter line is not run by a shell" {
  echo 'echo ran' >"$BUNDLE/rootfs/etc/plain"
  chmod +x "$BUNDLE/rootfs/etc/plain"
  program /etc/plain
  run_container
  exits 1 "exec format error"
  output_never_mentions ran
}

@test "P-6 a missing interpreter fails, and start says so" {
  printf '#!/no/interpreter\n' >"$BUNDLE/rootfs/etc/tool"
  chmod +x "$BUNDLE/rootfs/etc/tool"
  program /etc/tool
  create
  run ocirun start "$ID"
  exits 1 "no such file or directory"
  output_mentions /etc/tool
}

@test "P-8 rlimits are set exactly" {
  config '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_CORE", soft: 0, hard: 0},
    {type: "RLIMIT_FSIZE", soft: 1048576, hard: 18446744073709551615}]'
  script 'grep -E "Max (open files|core file size|file size)" /proc/self/limits | tr -s " "'
  sed -i 's/18446744073709552000/18446744073709551615/' "$BUNDLE/config.json" # jq has rounded the number
  run_container
  succeeds
  output_mentions 'Max open files 100 200 files'
  output_mentions 'Max core file size 0 0 bytes'
  output_mentions 'Max file size 1048576 unlimited bytes'
}

@test "P-8 an unknown type, one that is there twice, and soft over hard are refused" {
  refused /process/rlimits/0/type '.process.rlimits = [{type: "RLIMIT_BOGUS", soft: 1, hard: 1}]'
  refused RLIMIT_NOFILE '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 1, hard: 1}, {type: "RLIMIT_NOFILE", soft: 2, hard: 2}]'
  refused /process/rlimits/0 '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 20, hard: 10}]'
  refused /process/rlimits/0 '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 20}]'
}

@test "P-8 every rlimit name is known" {
  local name
  script 'exit 0'
  for name in AS CORE CPU DATA FSIZE LOCKS MEMLOCK MSGQUEUE NICE NOFILE NPROC RSS RTPRIO RTTIME SIGPENDING STACK; do
    config '.process.rlimits = [{type: ("RLIMIT_" + $n), soft: 0, hard: 0}]' --arg n "$name"
    run ocirun validate "$BUNDLE"
    succeeds
  done
}

@test "P-10 the five sets are exactly those asked for" {
  config '.process.capabilities = {bounding: ["CAP_KILL", "CAP_CHOWN", "CAP_NET_RAW"], permitted: ["CAP_KILL", "CAP_CHOWN"],
    effective: ["CAP_CHOWN"], inheritable: ["CAP_KILL"], ambient: ["CAP_KILL"]}
    | .process.user = {uid: 1000, gid: 1000} | .process.noNewPrivileges = false'
  inside 'grep Cap /proc/self/status'
  succeeds $'CapInh:\t0000000000000020\nCapPrm:\t0000000000000020\nCapEff:\t0000000000000020\nCapBnd:\t0000000000002021\nCapAmb:\t0000000000000020'
}

@test "P-10 root's program has the bounding and permitted sets, and nothing inheritable or ambient" {
  capabilities CAP_KILL CAP_SETUID
  inside 'grep Cap /proc/self/status'
  succeeds $'CapInh:\t0000000000000000\nCapPrm:\t00000000000000a0\nCapEff:\t00000000000000a0\nCapBnd:\t00000000000000a0\nCapAmb:\t0000000000000000'
}

@test "P-10 an unknown capability and one that the host lacks are a warning, not a failure" {
  capabilities CAP_KILL CAP_BOGUS
  script 'echo fine'
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds fine
  [[ $stderr == *CAP_BOGUS* ]]
  grep -q 'CapBnd.*fffeffffff' /proc/self/status || skip "this host lacks no capability that can be asked for"
  capabilities CAP_KILL CAP_SYS_RESOURCE
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds fine
  [[ $stderr == *CAP_SYS_RESOURCE* ]]
}

@test "P-11 without capabilities none are kept" {
  config 'del(.process.capabilities)'
  inside 'grep Cap /proc/self/status | sort -u -k 2'
  succeeds
  equal 1 "${#lines[@]}"
  output_mentions 0000000000000000
}

@test "P-12 an ambient capability that is not inheritable is a warning" {
  config '.process.capabilities |= (.inheritable = ["CAP_CHOWN"] | .bounding += ["CAP_CHOWN"] | .ambient = ["CAP_KILL"])'
  script 'grep CapAmb /proc/self/status'
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds $'CapAmb:\t0000000000000000'
  [[ $stderr == *CAP_KILL* ]]
}

@test "P-13 noNewPrivileges is set when asked for, and only then" {
  inside 'grep NoNewPrivs /proc/self/status'
  succeeds $'NoNewPrivs:\t1'
  config '.process.noNewPrivileges = false'
  inside 'grep NoNewPrivs /proc/self/status'
  succeeds $'NoNewPrivs:\t0'
  config 'del(.process.noNewPrivileges)'
  inside 'grep NoNewPrivs /proc/self/status'
  succeeds $'NoNewPrivs:\t0'
}

@test "P-14 oomScoreAdj is set, left alone without, and bounded" {
  config '.process.oomScoreAdj = 500'
  inside 'cat /proc/self/oom_score_adj'
  succeeds 500
  config 'del(.process.oomScoreAdj)'
  script 'cat /proc/self/oom_score_adj'
  run bash -c 'echo 77 >/proc/self/oom_score_adj; exec "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds 77
  refused oomScoreAdj '.process.oomScoreAdj = 1001'
  refused oomScoreAdj '.process.oomScoreAdj = -1001'
}

@test "P-14 exec gives the container's oomScoreAdj, not the caller's, unless the process has one of its own" {
  config '.process.oomScoreAdj = 300'
  create_and_start
  run scored 100 exec "$ID" cat /proc/self/oom_score_adj
  succeeds 300
  jq '.process | .args = ["cat", "/proc/self/oom_score_adj"] | del(.oomScoreAdj)' "$BUNDLE/config.json" >"$TMP/process.json"
  run scored 100 exec --process "$TMP/process.json" "$ID"
  succeeds 300
  jq '.process | .args = ["cat", "/proc/self/oom_score_adj"] | .oomScoreAdj = 400' "$BUNDLE/config.json" >"$TMP/process.json"
  run scored 100 exec --process "$TMP/process.json" "$ID"
  succeeds 400
  ocirun delete --force "$ID"
  config 'del(.process.oomScoreAdj)'
  create_and_start
  run scored 100 exec "$ID" cat /proc/self/oom_score_adj
  succeeds 100
}

@test "P-14 exec says so where the process keeps its caller's OOM score, which may not be lowered" {
  # With CAP_SYS_RESOURCE the score becomes the least one for processes without.
  local lowered=(bash -c 'echo 900 >/proc/self/oom_score_adj; exec setpriv --bounding-set=-sys_resource "$@"' -)
  ! "${lowered[@]}" bash -c 'echo 300 >/proc/self/oom_score_adj' 2>/dev/null || skip "this host has no CAP_SYS_RESOURCE, which sets a least score"
  config '.process.oomScoreAdj = 300'
  create_and_start
  run "${lowered[@]}" "$OCIRUN" --root "$ROOT" exec "$ID" cat /proc/self/oom_score_adj
  succeeds
  output_mentions 900
  output_mentions "warning: the process keeps its caller's OOM score: to lower it to 300, the container's /process/oomScoreAdj, wants CAP_SYS_RESOURCE"
}

# scored SCORE WORD…: ocirun, run by a process with this OOM score.
scored() { bash -c 'echo "$0" >/proc/self/oom_score_adj; exec "$@"' "$1" "$OCIRUN" --root "$ROOT" "${@:2}"; }

@test "P-15 the scheduler is applied: batch with nice, idle" {
  local fields='awk "{print \$19, \$41}" /proc/self/stat' # fields 19 and 41: nice and policy
  config '.process.scheduler = {policy: "SCHED_BATCH", nice: 5}'
  inside "$fields"
  succeeds "5 3"
  config '.process.scheduler = {policy: "SCHED_IDLE"}'
  inside "$fields"
  succeeds "$(nice) 5" # SCHED_IDLE keeps the caller's
  config '.process.scheduler = {policy: "SCHED_OTHER", nice: -3}'
  inside "$fields"
  succeeds "-3 0"
}

@test "P-15 values that the policy does not take are refused" {
  refused /process/scheduler/policy '.process.scheduler = {policy: "SCHED_BOGUS"}'
  refused /process/scheduler '.process.scheduler = {nice: 1}'
  refused /process/scheduler/nice '.process.scheduler = {policy: "SCHED_OTHER", nice: 20}'
  refused /process/scheduler/priority '.process.scheduler = {policy: "SCHED_BATCH", priority: 1}'
  refused /process/scheduler/runtime '.process.scheduler = {policy: "SCHED_OTHER", runtime: 1000}'
  refused /process/scheduler/flags '.process.scheduler = {policy: "SCHED_OTHER", flags: ["SCHED_FLAG_BOGUS"]}'
}

@test "P-17 the I/O priority is applied, and its bounds are kept" {
  config '.process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 3}'
  inside 'ionice -p $$'
  succeeds "best-effort: prio 3"
  config '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE", priority: 0}'
  inside 'ionice -p $$'
  output_mentions idle
  config '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE"}'
  inside 'ionice -p $$'
  output_mentions idle
  output_mentions "/process/ioPriority: priority is missing, which the specification requires (config.md, ioPriority)"
  refused "/process/ioPriority/priority: is missing" '.process.ioPriority = {class: "IOPRIO_CLASS_BE"}'
  refused /process/ioPriority/class '.process.ioPriority = {class: "IOPRIO_CLASS_BOGUS", priority: 0}'
  refused /process/ioPriority/priority '.process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 8}'
}

@test "the caller's CPU affinity is not what the container gets" {
  script 'grep Cpus_allowed_list /proc/self/status'
  run taskset -c 0 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds "$(grep Cpus_allowed_list /proc/1/status)"
}

@test "P-19 user and group ids are applied, and bounded" {
  config '.process.user = {uid: 1000, gid: 5}'
  inside 'id -u; id -g; grep -E "^(Uid|Gid)" /proc/self/status'
  succeeds $'1000\n5\nUid:\t1000\t1000\t1000\t1000\nGid:\t5\t5\t5\t5'
  refused /process/user/uid '.process.user.uid = 4294967295'
  refused /process/user/gid '.process.user.gid = 4294967295'
  refused /process/user/gid '.process.user.gid = 4294967296'
  refused /process/user/uid 'del(.process.user.uid)'
}

@test "P-20 umask is set when given, kept from the caller when not, and bounded" {
  config '.process.user.umask = 63'
  inside 'umask'
  succeeds 0077
  config 'del(.process.user.umask)'
  script umask
  run bash -c 'umask 0027; exec "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds 0027
  refused /process/user/umask '.process.user.umask = 512'
}

@test "P-20 the caller's umask does not change what the runtime makes" {
  add_mount '{"destination": "/deep/er", "type": "tmpfs", "source": "tmpfs"}'
  script 'stat -c %a /deep /dev/null'
  run bash -c 'umask 0077; exec "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds $'755\n666'
}

@test "P-21 additional groups are exactly those given" {
  config '.process.user = {uid: 1000, gid: 1000, additionalGids: [5, 39]}'
  inside 'grep Groups /proc/self/status | xargs'
  succeeds "Groups: 5 39"
  config 'del(.process.user.additionalGids)'
  script 'grep Groups /proc/self/status | xargs'
  run setpriv --groups 7,8 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds "Groups:"
}

@test "P-20 P-21 a filter that refuses setgroups and umask lets neither the caller's groups nor its umask in" {
  local with_groups=(setpriv --groups "0,1234,27" "$OCIRUN" --root "$ROOT")
  config '.process.user.umask = 23 | .process.noNewPrivileges = false | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [{names: ["setgroups", "umask"], action: "SCMP_ACT_ERRNO"}]}'
  program grep -E "^(Groups|Umask)" /proc/self/status
  run "${with_groups[@]}" run --bundle "$BUNDLE" "$ID"
  succeeds $'Umask:\t0027\nGroups:\t '
  program sleep 1000
  create_and_start
  run "${with_groups[@]}" exec "$ID" grep -E "^(Groups|Umask)" /proc/self/status
  succeeds $'Umask:\t0027\nGroups:\t '
}

@test "L-36 personality changes what uname says; flags and unknown domains are refused" {
  config '.linux.personality = {domain: "LINUX32"}'
  inside 'uname -m'
  succeeds "$(setarch linux32 uname -m)" # i686, except in User-Mode Linux
  config '.linux.personality = {domain: "LINUX"}'
  inside 'uname -m'
  succeeds x86_64
  refused /linux/personality/domain '.linux.personality = {domain: "SOLARIS"}'
  refused /linux/personality/domain '.linux.personality = {}'
  refused /linux/personality/flags '.linux.personality = {domain: "LINUX", flags: ["ADDR_NO_RANDOMIZE"]}'
}

@test "L-37 the memory policy is applied" {
  [[ -e /proc/self/numa_maps ]] || skip "this kernel was built without NUMA"
  config '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "0"}'
  inside 'grep -c bind:0 /proc/self/numa_maps >/dev/null && echo bound'
  succeeds bound
}

@test "L-37 the rules of the memory policy are kept" {
  refused /linux/memoryPolicy/mode '.linux.memoryPolicy = {mode: "MPOL_BOGUS"}'
  refused /linux/memoryPolicy '.linux.memoryPolicy = {mode: "MPOL_BIND"}'
  refused /linux/memoryPolicy '.linux.memoryPolicy = {mode: "MPOL_DEFAULT", nodes: "0"}'
  refused /linux/memoryPolicy '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_BOGUS"]}'
}

@test "LG-3 stdin, stdout and stderr that the caller gave as files reach the program" {
  script 'cat; echo out; echo err >&2'
  echo in >"$TMP/in"
  ocirun run --bundle "$BUNDLE" "$ID" <"$TMP/in" >"$TMP/out" 2>"$TMP/err"
  equal $'in\nout' "$(<"$TMP/out")"
  equal err "$(<"$TMP/err")"
}

@test "LG-3 closed standard descriptors do not end up on something of the host" {
  script 'for fd in 0 1 2; do readlink /proc/$$/fd/$fd; done >/listing 2>/dev/null'
  ocirun run --bundle "$BUNDLE" "$ID" <&- >&- 2>&- || true
  [[ ! -e $BUNDLE/rootfs/listing ]] || equal 0 "$(grep -cvE '^(/dev/null|/listing|pipe:.*)$' "$BUNDLE/rootfs/listing")"
}
