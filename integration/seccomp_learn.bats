# `run --seccomp-learn FILE`: a profile of the system calls that a program has used.
# shellcheck disable=SC2016 # programs of the container
load lib/common

PROFILE_NAMES='[.syscalls[] | select(.action == "SCMP_ACT_ALLOW").names[]]'
learn() { ocirun run --seccomp-learn "$TMP/profile" --bundle "$BUNDLE" "$ID" </dev/null; }
under_profile() {
  config '.linux.seccomp = $p[0]' --slurpfile p "$TMP/profile"
  run ocirun run --bundle "$BUNDLE" "$ID" </dev/null
}
allows() { jq -e --arg name "$1" "$PROFILE_NAMES | index(\$name) != null" "$TMP/profile" >/dev/null; }

@test "a program runs under the profile of its own run; what it never used is refused" {
  needs_system_call pidfd_getfd "a seccomp listener"
  script 'echo one >/tmp/file; cat /tmp/file; for i in 1 2 3; do (exit $i); done; exit 4'
  run learn
  exits 4 one
  allows openat
  allows write
  ! allows mkdir
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
  ! allows mkdir
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
      {names: ["mkdir"], action: "SCMP_ACT_ERRNO", errnoRet: 38},
      {names: ["personality"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: 8, op: "SCMP_CMP_EQ"}]}]}'
  script 'mkdir /tmp/new; exit 6'
  run learn
  exits 6 "not implemented"
  ! allows mkdir
  ! allows personality
  equal 38 "$(jq '.syscalls[] | select(.names == ["mkdir"]).errnoRet' "$TMP/profile")"
  under_profile
  exits 6 "not implemented"
}

@test "an ordinary user's calls and those of children are learned; exec is not disturbed" {
  needs_system_call pidfd_getfd "a seccomp listener"
  config '.process.user = {uid: 1000, gid: 1000} | .process.noNewPrivileges = true'
  script 'sleep 1000 & wait'
  learn >"$TMP/output" 2>&1 3>&- 4>&- &
  local runner=$!
  eventually status_is running
  equal in "$(ocirun exec "$ID" echo in)"
  ocirun kill "$ID" KILL
  wait "$runner" || equal 137 $?
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
