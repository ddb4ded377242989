load lib/common

seccomp() { config '.linux.seccomp = '"$1"; }

# engines_profile [CAPABILITY…]: writes the engines' profile for these capabilities to $TMP/profile.
engines_profile() {
  local file=/usr/share/containers/seccomp.json
  [[ -e $file ]] || skip "there is no $file: golang-github-containers-common is not installed"
  "$LIB/seccomp-profile" "$file" "$@" >"$TMP/profile"
}

@test "S-1 the engines' default profile is loaded and the program runs under it" {
  engines_profile CAP_AUDIT_WRITE CAP_KILL CAP_NET_BIND_SERVICE
  config '.linux.seccomp = $p[0]' --slurpfile p "$TMP/profile"
  inside 'grep -E "Seccomp:" /proc/self/status; mount -t tmpfs tmpfs /tmp; ls / >/dev/null && echo works; unshare -n true'
  output_mentions $'Seccomp:\t2'
  output_mentions works
  output_mentions "Operation not permitted"
}

@test "S-1 S-11 a call that is newer than the profile gives ENOSYS" {
  engines_profile
  config '.linux.seccomp = $p[0] | del(.linux.seccomp.defaultErrnoRet) ' --slurpfile p "$TMP/profile"
  gcc -static -o "$BUNDLE/rootfs/bin/newcall" -x c - <<<'#include <errno.h>
    #include <stdio.h>
    #include <unistd.h>
    int main(void) { syscall(900); printf("%d\n", errno); return 0; }'
  program newcall
  run_container
  succeeds 38
}

@test "S-1 S-2 an action gives its errno; the default is EPERM" {
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}, {names: ["rmdir"], action: "SCMP_ACT_ERRNO", errnoRet: 2}]}'
  inside 'mkdir /tmp/x; rmdir /tmp'
  output_mentions "Operation not permitted"
  output_mentions "No such file or directory"
}

@test "S-1 the kill actions kill" {
  local action
  drop_namespace pid
  for action in SCMP_ACT_KILL SCMP_ACT_KILL_PROCESS SCMP_ACT_KILL_THREAD SCMP_ACT_TRAP; do
    seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "'$action'"}]}'
    program mkdir /tmp/x
    run_container
    exits 159 # 128 + SIGSYS
  done
}

@test "S-1 S-3 S-4 S-8 S-9 unknown words are refused with their place" {
  refused /linux/seccomp/defaultAction '.linux.seccomp = {}'
  refused /linux/seccomp/defaultAction '.linux.seccomp = {defaultAction: "SCMP_ACT_BOGUS"}'
  refused /linux/seccomp/architectures/0 '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_BOGUS"]}'
  refused /linux/seccomp/flags/0 '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", flags: ["SECCOMP_FILTER_FLAG_BOGUS"]}'
  refused /linux/seccomp/syscalls/0/names '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: [], action: "SCMP_ACT_ERRNO"}]}'
  refused /linux/seccomp/syscalls/0/names '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{action: "SCMP_ACT_ERRNO"}]}'
  refused /linux/seccomp/syscalls/0/action '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"]}]}'
  refused /linux/seccomp/syscalls/0/args/0/op '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO", args: [{index: 0, value: 1, op: "SCMP_CMP_BOGUS"}]}]}'
  refused /linux/seccomp/syscalls/0/args/0/index '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO", args: [{index: 6, value: 1, op: "SCMP_CMP_EQ"}]}]}'
}

@test "S-2 errnoRet with an action that takes none is refused" {
  refused errnoRet '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", defaultErrnoRet: 5}'
  refused errnoRet '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ALLOW", errnoRet: 5}]}'
}

@test "S-4 every known flag is accepted or refused for the kernel's reason" {
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", flags: ["SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW", "SECCOMP_FILTER_FLAG_TSYNC"],
    syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
  inside 'grep -c "Seccomp_filters" /proc/self/status; mkdir /tmp/x'
  output_mentions "Operation not permitted"
}

@test "S-8 unknown call names are skipped, S-10 a rule that equals the default too" {
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["from_the_future", "mkdir"], action: "SCMP_ACT_ERRNO"}, {names: ["rmdir"], action: "SCMP_ACT_ALLOW"}]}'
  inside 'mkdir /tmp/x; echo went on'
  output_mentions "Operation not permitted"
  output_mentions "went on"
}

@test "S-9 conditions compare arguments; two on one index are alternatives" {
  # personality(2) with PER_LINUX32 (8) or 0xffffffff
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 11,
    args: [{index: 1, value: 10, op: "SCMP_CMP_EQ"}, {index: 1, value: 12, op: "SCMP_CMP_EQ"}]}]}'
  inside 'trap "" USR1 USR2 HUP; kill -USR1 $$ || echo one; kill -USR2 $$ || echo two; kill -HUP $$ && echo three'
  output_mentions $'one\n'
  output_mentions $'two\n'
  output_mentions three
}

@test "S-12 the filter is there with and without noNewPrivileges, for plain users too" {
  local nnp
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
  config '.process.user = {uid: 1000, gid: 1000}'
  for nnp in true false; do
    config '.process.noNewPrivileges = '$nnp
    inside 'mkdir /tmp/x; grep -E "Seccomp:|NoNewPrivs" /proc/self/status | cut -f2 | xargs'
    output_mentions "Operation not permitted"
    [[ ${lines[-1]} == "$([[ $nnp == true ]] && echo 1 || echo 0) 2" ]]
  done
}

@test "S-12 H-10 a startContainer hook, whose program is the image's, is under the filter with and without noNewPrivileges" {
  local nnp
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
  config '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "exec >>/record 2>&1; grep Seccomp: /proc/self/status; mkdir /x"]},
    {path: "/bin/sh", args: ["sh", "-c", "grep Seccomp: /proc/self/status >>/record"]}]'
  config '.hooks.startContainer[0].args[2] += "; true"'
  for nnp in true false; do
    config '.process.noNewPrivileges = '$nnp
    inside 'cat /record; grep Seccomp: /proc/self/status; rm /record'
    equal "Seccomp: 2 mkdir: can't create directory '/x': Operation not permitted Seccomp: 2 Seccomp: 2" "$(xargs <<<"${output//\'/\\\'}")"
  done
}

@test "S-12 H-11 a filter that a startContainer hook does not survive fails start, and the hook is named" {
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_KILL_PROCESS"}]}
    | .hooks.startContainer = [{path: "/bin/mkdir", args: ["mkdir", "/x"]}]'
  create
  run ocirun start "$ID"
  exits 1 "startContainer hook #0 (/bin/mkdir): killed by signal 31"
  [[ ! -e $ROOT/$ID ]]
}

@test "S-12 a strict list of allowed calls is enough for the program to start" {
  seccomp '{defaultAction: "SCMP_ACT_ERRNO", syscalls: [{action: "SCMP_ACT_ALLOW", names: ["execve", "brk", "arch_prctl", "set_tid_address",
    "set_robust_list", "rseq", "mprotect", "prlimit64", "getrandom", "readlinkat", "readlink", "uname", "getuid", "setuid", "setgid", "getgid", "write", "newfstatat", "fstat",
    "mmap", "munmap", "exit_group", "ioctl", "poll", "prctl", "close_range", "futex"]}]}'
  program echo fine
  run_container
  succeeds fine
}

@test "S-12 LC-6 a filter that kills at execve, or refuses execve, is an error of create and of run, and no hook runs after it" {
  local action privileges profile words
  for action in SCMP_ACT_KILL_PROCESS SCMP_ACT_KILL_THREAD SCMP_ACT_TRAP SCMP_ACT_ERRNO; do
    words="the profile kills the process before it could execute the program: allow execve"
    [[ $action != SCMP_ACT_ERRNO ]] || words="the profile refuses execve, which executes the program: allow execve"
    for profile in '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["execve"], action: "'$action'"}]}' '{defaultAction: "'$action'"}'; do
      for privileges in true false; do
        config '.process.noNewPrivileges = $n | .hooks.poststart = [{path: "/bin/touch", args: ["touch", $f]}]' \
          --argjson n "$privileges" --arg f "$TMP/poststart"
        seccomp "$profile"
        run ocirun create --bundle "$BUNDLE" "$ID"
        exits 1 "/linux/seccomp: $words"
        run_container
        exits 1 "/linux/seccomp: $words"
        run ocirun state "$ID"
        exits 1 "does not exist"
      done
    done
  done
  [[ ! -e $TMP/poststart ]]
}

@test "S-13 an exec'd process is under the same filter" {
  seccomp '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
  create_and_start
  run ocirun exec "$ID" mkdir /tmp/x
  exits 1 "Operation not permitted"
}

@test "S-5 S-7 a listener gets the state and the descriptor, and its answers count" {
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/message" 95
  eventually exists "$TMP/agent"
  config '.annotations = {"a": "b", "long": ("x" * 300000)} | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $p, listenerMetadata: "meta",
    syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}' --arg p "$TMP/agent"
  inside 'mkdir /tmp/x'
  exits 1 "not supported"
  equal '["seccompFd"]' "$(jq -c .fds "$TMP/message")"
  equal meta "$(jq -r .metadata "$TMP/message")"
  equal "$ID creating b" "$(jq -r '.state | "\(.id) \(.status) \(.annotations.a)"' "$TMP/message")"
  [[ $(jq .pid "$TMP/message") -gt 0 ]]
  equal 300000 "$(jq '.state.annotations.long | length' "$TMP/message")"
}

@test "S-7 a listener that exec brings comes with the container's state, and the number of the process that exec started" {
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/inits" 95
  eventually exists "$TMP/agent"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $p,
    syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}' --arg p "$TMP/agent"
  create_and_start
  rm "$TMP/agent"
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/message" 95
  eventually exists "$TMP/agent"
  run ocirun exec --pid-file "$TMP/pid" "$ID" mkdir /tmp/x
  if ! has_system_call pidfd_open; then
    exits 255 "take the seccomp listener from its process: pidfd_open, Linux 5.3"
    return
  fi
  exits 1 "not supported"
  equal "running $(init_pid) $(<"$TMP/pid")" "$(jq -r '"\(.state.status) \(.state.pid) \(.pid)"' "$TMP/message")"
}

@test "S-5 a listener that cannot be reached is an error that leaves nothing" {
  refused "$TMP/nobody" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $p,
    syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}' --arg p "$TMP/nobody"
}

@test "S-5 NOTIFY without a listener, as the default action, or for write is refused" {
  refused NOTIFY '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}'
  refused NOTIFY '.linux.seccomp = {defaultAction: "SCMP_ACT_NOTIFY", listenerPath: "/x"}'
  refused NOTIFY '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/x", syscalls: [{names: ["write"], action: "SCMP_ACT_NOTIFY"}]}'
}

# The agent gets none of ocirun's own calls: one that refuses would break them, a silent one would hang them. Without no_new_privs the user
# and the capabilities change below the filter too.
@test "S-5 S-12 a listener on the calls by which ocirun's processes talk neither breaks nor hangs create, start and exec" {
  local answer calls privileges
  needs_system_call pidfd_open "an agent of a process that exec makes"
  for privileges in true false; do
    for answer in 95 none; do
      for calls in '"sendmsg"' '"recvmsg"' '"sendmsg","sendto","recvmsg","recvfrom","sendmmsg","recvmmsg"'; do
        config ".process.noNewPrivileges = $privileges | .linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\", listenerPath: \$p,
          syscalls: [{names: [$calls], action: \"SCMP_ACT_NOTIFY\"}]}" --arg p "$TMP/agent"
        new_agent "$answer"
        create_and_start
        new_agent "$answer"
        run ocirun exec "$ID" echo done
        succeeds done
        equal '["seccompFd"]' "$(jq -c .fds "$TMP/message")"
        [[ ! -e $TMP/message.held ]]
        ocirun delete --force "$ID"
      done
    done
  done
}

# new_agent ANSWER: an agent for the next listener.
new_agent() {
  stop_helpers
  rm -f "$TMP"/agent "$TMP"/message*
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/message" "$1"
  eventually exists "$TMP/agent"
}

@test "S-5 a listenerPath without SCMP_ACT_NOTIFY is a warning" {
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/run/nobody", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
  inside 'echo ran'
  succeeds
  output_mentions ran
  output_mentions "/linux/seccomp: listenerPath has no effect: no rule has the action SCMP_ACT_NOTIFY"
}

@test "S-6 listenerMetadata without listenerPath is refused" {
  refused listenerMetadata '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerMetadata: "x"}'
}
