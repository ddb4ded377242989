# `run --seccomp-learn FILE`: a profile of the system calls that a program has used.
# shellcheck disable=SC2016 # programs of the container
load lib/common

PROFILE_NAMES='[.syscalls[] | select(.action == "SCMP_ACT_ALLOW").names[]]'
learn() { ocirun run --seccomp-learn "$TMP/profile" --bundle "$BUNDLE" "$ID" </dev/null; }
under_profile() {
  config '.linux.seccomp = $p[0]' --slurpfile p "$TMP/profile"
  run ocirun run --bundle "$BUNDLE" "$ID" </dev/null
}
refuses() { if allows "$1"; then echo "the profile allows $1" && return 1; fi; }
allows() { jq -e --arg name "$1" "$PROFILE_NAMES | index(\$name) != null" "$TMP/profile" >/dev/null; }

@test "a program runs under the profile of its own run; what it never used is refused" {
  needs_system_call pidfd_getfd "a seccomp listener"
  script 'echo one >/tmp/file; cat /tmp/file; for i in 1 2 3; do (exit $i); done; exit 4'
  run learn
  exits 4 one
  allows openat
  allows write
  refuses mkdir
  equal SCMP_ACT_ERRNO "$(jq -r .defaultAction "$TMP/profile")"
  under_profile
  exits 4 one
  script 'mkdir /tmp/new; exit 5'
  under_profile
  exits 5 "not permitted"
  [[ ! -e $BUNDLE/rootfs/tmp/new ]]
}

@test "further runs add to the profile" {
  needs_system_call pidfd_getfd "a seccomp listener"
  script 'exit 0'
  run learn
  succeeds
  refuses mkdir
  script 'mkdir /tmp/new'
  run learn
  succeeds
  allows mkdir
  script 'ln -s a /tmp/link'
  run learn
  succeeds
  allows mkdir
  allows symlink
}

@test "what the container's own profile refuses is not learned; its conditions and refusals are taken over" {
  needs_system_call pidfd_getfd "a seccomp listener"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
      {names: ["mkdir"], action: "SCMP_ACT_ERRNO", errnoRet: 30},
      {names: ["personality"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: 8, op: "SCMP_CMP_EQ"}]}]}'
  script 'mkdir /tmp/new; exit 6'
  run learn
  exits 6 "Read-only file system"
  refuses mkdir
  refuses personality
  equal 30 "$(jq '.syscalls[] | select(.names == ["mkdir"]).errnoRet' "$TMP/profile")"
  under_profile
  exits 6 "Read-only file system"
}

@test "two runs into one file lose nothing; a call of another rule of the file is kept" {
  needs_system_call pidfd_getfd "a seccomp listener"
  script 'mkdir /tmp/new; sleep 1'
  learn 3>&- 4>&- &
  local first=$!
  eventually exists "$BUNDLE/rootfs/tmp/new"
  script 'ln -s a /tmp/link'
  config '.linux.cgroupsPath += "-second"'
  run ocirun run --seccomp-learn "$TMP/profile" --bundle "$BUNDLE" "$ID-second" </dev/null
  succeeds
  allows symlink
  wait "$first"
  allows mkdir
  allows symlink
}

@test "what a file says beyond the profile in force is not lost, and a directory that cannot be written is told before the run" {
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]}'
  script 'exit 0'
  needs_system_call pidfd_getfd "a seccomp listener"
  run learn
  succeeds
  config 'del(.linux.seccomp)'
  run learn
  exits 1 "--seccomp-learn: $TMP/profile: /syscalls/0: says something of mkdir"
  mkdir "$TMP/fixed"
  mount -t tmpfs -o ro fixed "$TMP/fixed"
  run ocirun run --seccomp-learn "$TMP/fixed/profile" --bundle "$BUNDLE" "$ID"
  exits 1 "--seccomp-learn: $TMP/fixed/profile: write into its directory: read-only file system"
  umount "$TMP/fixed"
}

@test "a rule that refuses by arguments what the profile allows by default is not lost: it is refused" {
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
      {names: ["unshare"], action: "SCMP_ACT_ERRNO", args: [{index: 0, value: 268435456, valueTwo: 268435456, op: "SCMP_CMP_MASKED_EQ"}]}]}'
  run learn
  exits 1 "/linux/seccomp/syscalls/0: refuses unshare for its arguments"
  [[ ! -e $TMP/profile ]]
}

@test "what was noted is not lost if the process that notes ends before run listens" {
  needs_system_call pidfd_getfd "a seccomp listener"
  script 'exit 3'
  # The process ends 0.3 s after its answer, and each receive begins 0.7 s late.
  run strace -f -qq -o "$TMP/trace" -e trace=exit_group,recvmsg -e inject=exit_group:delay_enter=300000 \
    -e inject=recvmsg:delay_enter=700000 "$OCIRUN" --root "$ROOT" run --seccomp-learn "$TMP/profile" --bundle "$BUNDLE" "$ID" </dev/null
  exits 3
  allows execve
}

@test "a call that the profile logs is noted, and is logged again" {
  needs_system_call pidfd_getfd "a seccomp listener"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat", "rmdir"], action: "SCMP_ACT_LOG"}]}'
  script 'mkdir /tmp/new'
  run learn
  succeeds
  jq -e '.syscalls[] | select(.action == "SCMP_ACT_LOG").names | index("mkdir") != null or index("mkdirat") != null' "$TMP/profile"
  jq -e '[.syscalls[].names[]] | index("rmdir") == null' "$TMP/profile"
  script 'mkdir /tmp/new2'
  under_profile
  succeeds
}

@test "a program of another architecture is learned too" {
  needs_system_call pidfd_getfd "a seccomp listener"
  [[ $(uname -m) == x86_64 ]] || skip "needs x86_64"
  # _exit(9), as a program of i386
  printf '\x7fELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\x54\x80\4\x08\x34\0\0\0\0\0\0\0\0\0\0\0\x34\0\x20\0\1\0\0\0\0\0\0\0' >"$BUNDLE/rootfs/bin/old"
  printf '\1\0\0\0\0\0\0\0\0\x80\4\x08\0\x80\4\x08\x60\0\0\0\x60\0\0\0\5\0\0\0\0\x10\0\0' >>"$BUNDLE/rootfs/bin/old"
  printf '\xb8\1\0\0\0\xbb\x09\0\0\0\xcd\x80' >>"$BUNDLE/rootfs/bin/old"
  chmod +x "$BUNDLE/rootfs/bin/old"
  script '/bin/old; exit $?'
  ocirun run --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 || [[ $? == 9 ]] || skip "the kernel runs no programs of i386"
  run learn
  exits 9
  jq -e '.architectures | index("SCMP_ARCH_X86") != null' "$TMP/profile"
  under_profile
  exits 9
}

@test "an ordinary user's calls and those of children are learned; exec is not disturbed" {
  needs_system_call pidfd_getfd "a seccomp listener"
  config '.process.user = {uid: 1000, gid: 1000} | .process.noNewPrivileges = true'
  script 'sleep 1000 & echo >/tmp/begun; wait'
  learn >"$TMP/output" 2>&1 3>&- 4>&- &
  local runner=$!
  eventually status_is running
  eventually exists "$BUNDLE/rootfs/tmp/begun"
  equal in "$(ocirun exec "$ID" echo in)"
  ocirun kill "$ID" KILL
  status=0
  wait "$runner" || status=$?
  output=$(<"$TMP/output")
  exits 137
  allows wait4
  allows nanosleep || allows clock_nanosleep
}

@test "what cannot be learned is refused: detached, with an agent, into a file that is no profile" {
  run ocirun run --detach --seccomp-learn "$TMP/profile" --bundle "$BUNDLE" "$ID"
  exits 1 "not with --detach"
  echo '{"defaultAction": "no"}' >"$TMP/profile"
  run learn
  exits 1 "--seccomp-learn: $TMP/profile: seccomp"
  rm "$TMP/profile"
  run ocirun run --seccomp-learn "$TMP/none/profile" --bundle "$BUNDLE" "$ID"
  exits 1 "--seccomp-learn"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/agent", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}'
  run learn
  exits 1 "SCMP_ACT_NOTIFY"
  [[ ! -e $TMP/profile ]]
  equal "" "$(ocirun list -q)"
}
