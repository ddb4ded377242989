load lib/common

@test "--version has one line with the word, then the commit, the spec, the architecture and the libraries" {
  run --separate-stderr "$OCIRUN" --version
  succeeds
  matches '^ocirun version [0-9]+\.[0-9]+\.[0-9]+'
  equal 1 "$(grep -c version <<<"$output")"
  matches $'\ncommit: '
  matches $'\nspec: 1\\.[0-9]+\\.[0-9]+'
  matches $'\narchitecture: [a-z0-9_]+\n'
  local library
  for library in libseccomp nlohmann_json fmt glibc; do matches $'\n'"$library"': [0-9]+\.[0-9]+'; done
  equal "" "$stderr"
  local short
  short=$("$OCIRUN" -v)
  equal "$output" "$short"
}

@test "--help names every command, and each command has a --help of its own" {
  local command
  run "$OCIRUN" --help
  succeeds
  for command in create start run state kill delete exec list ps pause resume spec features; do
    output_mentions " $command"
  done
  for command in create start run state kill delete exec list ps pause resume spec features; do
    run "$OCIRUN" "$command" --help
    succeeds
    output_mentions "$command"
  done
}

@test "an unknown command, an unknown option and a missing id fail with status 1" {
  run "$OCIRUN" frobnicate
  exits 1 frobnicate
  run "$OCIRUN" --frobnicate state x
  exits 1 frobnicate
  attempt create --frobnicate "$ID"
  exits 1 frobnicate
}

@test "checkpoint and restore are there, or a build without them says so" {
  local command
  for command in checkpoint restore; do
    run "$OCIRUN" "$command"
    if [[ $(commands) == *" $command "* ]]; then exits 1 "ID is missing"; else exits 1 "this build has no checkpoint and restore"; fi
    run "$OCIRUN" help "$command"
    [[ $(commands) == *" $command "* ]] || exits 1 "OCIRUN_CRIU=OFF"
  done
}

commands() { echo " $("$OCIRUN" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ') "; }

@test "OP-1 OP-2 OP-3 OP-4 OP-5 each operation without an id fails" {
  local command
  for command in state create start kill delete pause resume ps; do
    run ocirun "$command"
    exits 1
  done
  run ocirun exec
  exits 255
}

@test "too many arguments are refused, not ignored" {
  create
  run ocirun state "$ID" extra
  exits 1
  run ocirun start "$ID" extra
  exits 1
  status_is created
}

@test "an option takes its value as the next word or after =" {
  create
  run "$OCIRUN" --root="$ROOT" state "$ID"
  succeeds
  run ocirun list --format=json
  succeeds
  run ocirun list --format json
  succeeds
}

@test "an option that lacks its value is refused" {
  run "$OCIRUN" --root
  exits 1 root
  attempt create --bundle
  exits 1 bundle
}

@test "--log with --log-format json gets one object for an error, and stderr the same message" {
  run --separate-stderr "$OCIRUN" --log "$TMP/log" --log-format json --root "$ROOT" state "$ID"
  exits 1
  equal 1 "$(wc -l <"$TMP/log")"
  equal error "$(jq -r .level "$TMP/log")"
  [[ $(jq -r .msg "$TMP/log") == *"does not exist"* ]]
  [[ $(jq -r .time "$TMP/log") =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$ ]]
  [[ $stderr == *"$(jq -r .msg "$TMP/log")"* ]]
  equal "" "$output"
}

@test "the log is appended to, stays empty on success, and --log=PATH is relative to the caller" {
  cd "$TMP"
  "$OCIRUN" --root "$ROOT" --log=log --log-format=json create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  equal 0 "$(cat log 2>/dev/null | wc -l)"
  run "$OCIRUN" --root "$ROOT" --log=log --log-format=json state nobody
  run "$OCIRUN" --root "$ROOT" --log=log --log-format=json state nobody
  equal 2 "$(wc -l <log)"
}

@test "--log-format json without --log puts one object on stderr, of an error and of a warning" {
  run --separate-stderr "$OCIRUN" --log-format json --root "$ROOT" state "$ID"
  exits 1
  equal "error" "$(jq -r .level <<<"$stderr")"
  [[ $(jq -r .msg <<<"$stderr") == "state $ID: container does not exist (in the state root $ROOT; --root names another one)" ]]
  config '.process.consoleSize = {height: 1, width: 1} | .process.args = ["true"]'
  run --separate-stderr "$OCIRUN" --log-format json --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  exits 0
  equal "warning" "$(jq -r .level <<<"$stderr")"
}

@test "an empty value means that the option is not given, but for --root" {
  create_and_start
  run ocirun exec --user "" --cwd "" --pid-file "" --process "" --apparmor= --console-socket "" --env "" --cap "" "$ID" echo fine
  succeeds fine
  run "$OCIRUN" --root "" list
  exits 1 "--root: must name a directory"
}

@test "--log-format text is not JSON, and another format is refused" {
  run "$OCIRUN" --root "$ROOT" --log "$TMP/log" --log-format text state nobody
  exits 1
  contains "$TMP/log" "does not exist"
  [[ $(head -c1 "$TMP/log") != "{" ]]
  run "$OCIRUN" --log-format yaml --root "$ROOT" list
  exits 1 yaml
}

@test "a log that cannot be opened is an error" {
  run "$OCIRUN" --root "$ROOT" --log /no/such/dir/log state nobody
  exits 1 /no/such/dir/log
}

@test "--debug writes debug lines, and none without it" {
  "$OCIRUN" --root "$ROOT" --debug --log "$TMP/log" --log-format json create --bundle "$BUNDLE" "$ID" \
    </dev/null >/dev/null 2>&1
  grep -q '"level": *"debug"' "$TMP/log"
  jq -e . "$TMP/log" >/dev/null
}

@test "errors read as runc's: the cause is the kernel's text in lower case" {
  rm -rf "$BUNDLE/rootfs"
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "no such file or directory"
  output_never_mentions "No such file"
}

@test "without --root the state lies in /run/ocirun, also when XDG_RUNTIME_DIR is empty or set" {
  ROOT=/run/ocirun
  env XDG_RUNTIME_DIR= "$OCIRUN" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  exists "/run/ocirun/$ID"
  [[ $(stat -c %a /run/ocirun) =~ ^1?700$ ]]
  env XDG_RUNTIME_DIR=/run/elsewhere "$OCIRUN" state "$ID" >/dev/null
  env -i "$OCIRUN" delete --force "$ID"
  [[ ! -e /run/ocirun/$ID ]]
}

# bats test_tags=exhaustive
@test "every command works with an empty environment, from / and from a directory that is gone" {
  local directory
  bare() { env -i "$OCIRUN" --root "$ROOT" "$@"; }
  for directory in / "$TMP/gone"; do
    mkdir -p "$directory" && cd "$directory"
    [[ $directory == / ]] || rmdir "$directory"
    bare create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 || show_output
    bare start "$ID"
    [[ $(bare state "$ID" | jq -r .status) == running ]]
    [[ $(bare list -q) == "$ID" ]]
    [[ $(bare ps --format json "$ID") == "[$(init_pid)]" ]]
    [[ $(bare exec "$ID" echo executed) == executed ]]
    bare update --pids-limit 100 "$ID"
    bare events --stats "$ID" | jq -e .data.pids
    bare pause "$ID"
    bare resume "$ID"
    bare kill "$ID" KILL
    eventually status_is stopped
    bare delete "$ID"
  done
}

@test "a relative --root belongs to the caller's directory" {
  cd "$TMP"
  "$OCIRUN" --root root create --bundle bundle "$ID" </dev/null >/dev/null 2>&1
  exists "$ROOT/$ID"
}

@test "--root / is refused" {
  run "$OCIRUN" --root / list
  exits 1
}

@test "--cgroup-manager disabled makes no cgroup and leaves the process in the caller's" {
  program cat /proc/self/cgroup
  drop_namespace cgroup
  config 'del(.linux.resources)'
  run "$OCIRUN" --root "$ROOT" --cgroup-manager disabled run --bundle "$BUNDLE" "$ID"
  succeeds "$(cat /proc/self/cgroup)"
}

@test "--cgroup-manager cgroupfs is the default, and an unknown one is refused with the choices" {
  "$OCIRUN" --root "$ROOT" --cgroup-manager=cgroupfs create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  [[ -n $(cgroups "$ID") ]]
  run "$OCIRUN" --root "$ROOT" --cgroup-manager mesos list
  exits 1 cgroupfs
  output_mentions disabled
}

@test "R-45 without systemd on the host --systemd-cgroup is an error that leaves nothing" {
  [[ ! -d /run/systemd/system ]] || skip "systemd runs here"
  config '.linux.cgroupsPath = "system.slice:ocirun:" + $id' --arg id "$ID"
  run timeout 60 "$OCIRUN" --root "$ROOT" --systemd-cgroup create --bundle "$BUNDLE" "$ID"
  exits 1 systemd
}

@test "--rootless takes true, false and auto, and nothing else" {
  local value
  for value in true false auto; do
    run "$OCIRUN" --root "$ROOT" --rootless="$value" delete --force nobody
    succeeds
  done
  run "$OCIRUN" --root "$ROOT" --rootless=perhaps delete --force nobody
  exits 1 perhaps
}
