# Documents of version 0.5.0-dev (docs/requirements.md: SD-*): converted to the present meaning, or refused.
load lib/common

legacy() {
  config '.ociVersion = "0.5.0-dev" | .platform = {os: "linux", arch: "amd64"}
    | .process.capabilities = ["CAP_KILL", "CAP_AUDIT_WRITE"]'
}

@test "SD-1 a 0.5 document runs; another 0.x is refused" {
  legacy
  inside 'echo fine'
  succeeds fine
  refused 0.4.0 '.ociVersion = "0.4.0"'
}

@test "SD-2 a foreign platform is refused in a 0.5 document and ignored in a 1.x one" {
  legacy
  refused platform '.platform.os = "windows"'
  refused platform '.platform.arch = "s390x"'
  config '.ociVersion = "1.3.0" | .platform = {os: "windows", arch: "s390x"} | .process.capabilities = {}'
  inside 'echo fine'
  succeeds fine
}

@test "SD-5 the list of capabilities becomes bounding, permitted and effective; nothing is inheritable" {
  legacy
  inside 'grep Cap /proc/self/status'
  succeeds $'CapInh:\t0000000000000000\nCapPrm:\t0000000020000020\nCapEff:\t0000000020000020\nCapBnd:\t0000000020000020\nCapAmb:\t0000000000000000'
}

@test "SD-7 an environment name outside letters, digits and _ is refused" {
  legacy
  refused /process/env '.process.env += ["A-B=c"]'
}

@test "SD-8 SD-9 oomScoreAdj and disableOOMKiller are found in resources" {
  legacy
  config '.linux.resources.oomScoreAdj = 321 | .linux.resources.disableOOMKiller = false'
  inside 'cat /proc/self/oom_score_adj'
  succeeds 321
  refused oomScoreAdj '.process.oomScoreAdj = 1'
}

@test "SD-8 in a 1.x document resources.oomScoreAdj is an unknown property" {
  config '.linux.resources.oomScoreAdj = 321'
  inside 'cat /proc/self/oom_score_adj'
  succeeds "$(cat /proc/self/oom_score_adj)"
}

@test "SD-11 a seccomp rule has one name; both name and names are refused" {
  legacy
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86"],
    syscalls: [{name: "mkdir", action: "SCMP_ACT_ERRNO"}]}'
  inside 'mkdir /x || echo refused'
  output_mentions refused
  refused names '.linux.seccomp.syscalls[0].names = ["mkdir"]'
}

@test "SD-15 a failing poststart hook is logged and the container goes on" {
  legacy
  config '.hooks.poststart = [{path: "/bin/false"}, {path: "/usr/bin/touch", args: ["touch", $f]}]' --arg f "$TMP/second"
  create
  run ocirun start "$ID"
  succeeds
  output_mentions poststart
  exists "$TMP/second"
  status_is running
}

@test "SD-17 a hook without env inherits the runtime's environment" {
  legacy
  config '.hooks.prestart = [{path: "/bin/sh", args: ["sh", "-c", "echo $INHERITED >" + $f]}]' --arg f "$TMP/env"
  script true
  INHERITED=yes run_container
  succeeds
  equal yes "$(<"$TMP/env")"
}

@test "SD-20 type bind without an option binds" {
  legacy
  echo hello >"$TMP/file"
  add_mount '{"destination": "/file", "type": "bind", "source": "'"$TMP/file"'"}'
  inside 'cat /file'
  succeeds hello
}

@test "spec --upgrade turns the seed's example into its 1.3 form" {
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  run --separate-stderr ocirun spec --upgrade "$OCIRUN_SPEC_DIR/seed-0.5.0-dev-example.json"
  succeeds
  equal "$(jq -S . "$OCIRUN_SPEC_DIR/seed-0.5.0-dev-example.upgraded.json")" "$(jq -S . <<<"$output")"
}
