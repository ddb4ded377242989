# Timelines: --trace, $OCIRUN_TRACE and `ocirun trace`.
load lib/common

# span FILE LANE NAME: prints the milliseconds of all entries of that name, one a line.
span() {
  jq -r --arg lane "$2" --arg name "$3" '.traceEvents as $all
    | ($all[] | select(.name == "thread_name" and .args.name == $lane).tid) as $tid
    | $all[] | select(.ph == "X" and .tid == $tid and .name == $name).dur / 1000' "$1"
}
# has_span FILE LANE NAME
has_span() { [[ -n $(span "$@") ]] || { echo "no $3 in the lane $2:" && ocirun trace "$1" && return 1; }; }

@test "run --trace writes a timeline of ocirun, init and the hooks, and the container runs as without" {
  config '.hooks.createRuntime = [{path: "/bin/sleep", args: ["sleep", "0.3"]}]'
  program sh -c 'echo out; exit 7'
  run ocirun run --trace "$TMP/trace" --bundle "$BUNDLE" "$ID"
  exits 7 out
  equal 600 "$(stat -c %a "$TMP/trace")"
  has_span "$TMP/trace" ocirun "claim the id"
  has_span "$TMP/trace" ocirun "start the program"
  has_span "$TMP/trace" init "enter the root"
  has_span "$TMP/trace" init "make a mount"
  [[ $(span "$TMP/trace" programs hook | cut -d. -f1) -ge 300 ]]
  [[ $(span "$TMP/trace" init "prestart and createRuntime hooks" | cut -d. -f1) -ge 300 ]]
  equal "$(jq '.mounts | length' "$BUNDLE/config.json")" \
    "$(jq '[.traceEvents[] | select(.name == "make a mount").args.object] | unique | length' "$TMP/trace")"
  equal true "$(jq '[.traceEvents[] | select(.ph == "X") | .ts >= 0 and .dur >= 0] | all' "$TMP/trace")"
}

@test "the timeline of a foreground run and exec is there while the program runs" {
  program sleep 1000
  timeout 60 "$OCIRUN" --root "$ROOT" run --trace "$TMP/trace" --bundle "$BUNDLE" "$ID" >/dev/null 2>&1 3>&- 4>&- &
  HELPERS+=($!)
  eventually test -s "$TMP/trace"
  ocirun exec --trace "$TMP/of-exec" "$ID" true
  has_span "$TMP/of-exec" stage "enter the container"
  has_span "$TMP/of-exec" process "execute the program"
  ocirun kill "$ID" KILL
}

@test "engines' commands write a timeline each into the directory OCIRUN_TRACE; state and kill write none" {
  mkdir "$TMP/traces"
  program sleep 1000
  export OCIRUN_TRACE=$TMP/traces
  create_and_start
  ocirun exec "$ID" true
  ocirun state "$ID" >/dev/null
  ocirun delete --force "$ID"
  equal "create exec" "$(cd "$TMP/traces" && printf '%s\n' * | cut -d - -f 2 | sort | xargs)"
  has_span "$(echo "$TMP/traces"/*-create-*)" init "enter the root"
}

@test "without the directory OCIRUN_TRACE, or with a relative one, a container starts, and a warning says so" {
  program true
  local directory
  for directory in "$TMP/none" none; do
    OCIRUN_TRACE=$directory run ocirun run --bundle "$BUNDLE" "$ID"
    succeeds
    output_mentions "no timeline: OCIRUN_TRACE: "
  done
}

@test "a timeline that cannot be written at the end is a warning, and run has the program's status" {
  mkdir "$TMP/gone"
  config '.hooks.createRuntime = [{path: "/bin/rmdir", args: ["rmdir", $gone]}]' --arg gone "$TMP/gone"
  program sh -c 'exit 7'
  run ocirun run --trace "$TMP/gone/trace" --bundle "$BUNDLE" "$ID"
  exits 7 "no timeline: $TMP/gone/trace: "
  equal "" "$(ocirun list --quiet)"
}

@test "--trace replaces no device, and the refusal leaves nothing" {
  program true
  mknod "$TMP/null" c 1 3
  run ocirun run --trace "$TMP/null" --bundle "$BUNDLE" "$ID"
  exits 1 "--trace: $TMP/null: is no regular file"
  test -c "$TMP/null"
  equal "" "$(ocirun list --quiet)"
}

@test "in a time namespace init's entries lie where ocirun's do" {
  [[ -e /proc/self/ns/time ]] || skip "this kernel has no time namespaces"
  config '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {monotonic: {secs: 864000}}'
  program true
  run ocirun run --trace "$TMP/trace" --bundle "$BUNDLE" "$ID"
  succeeds
  has_span "$TMP/trace" stage "join and make namespaces"
  has_span "$TMP/trace" init "execute the program"
  equal true "$(jq '[.traceEvents[] | select(.ph == "X") | .ts + .dur < 300000000] | all' "$TMP/trace")"
}

@test "the process of a hook under the container's filter ends no step of init" {
  config '.process.noNewPrivileges = true | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW"}
    | .hooks.startContainer = [{path: "/bin/true"}]'
  program true
  run ocirun run --trace "$TMP/trace" --bundle "$BUNDLE" "$ID"
  succeeds
  has_span "$TMP/trace" programs hook
  equal 1 "$(span "$TMP/trace" init "load the seccomp filter" | wc -l)"
  equal 1 "$(span "$TMP/trace" init "execute the program" | wc -l)"
}

@test "a create that fails writes its timeline; a missing directory is told, and nothing is made" {
  config '.hooks.createRuntime = [{path: "/bin/false"}]'
  run ocirun create --trace "$TMP/trace" --bundle "$BUNDLE" "$ID"
  [[ $status != 0 ]] || fail_with_output
  has_span "$TMP/trace" programs hook
  run ocirun create --trace "$TMP/none/trace" --bundle "$BUNDLE" "$ID"
  exits 1 "--trace: "
  output_mentions "$TMP/none"
  equal "" "$(ocirun list --quiet)"
}

@test "a seccomp filter that allows no clock does not stop a container with a timeline" {
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
    {names: ["clock_gettime", "getrusage"], action: "SCMP_ACT_KILL_PROCESS"}]}'
  program true
  run ocirun run --trace "$TMP/trace" --bundle "$BUNDLE" "$ID"
  succeeds
  has_span "$TMP/trace" init "load the seccomp filter"
}

@test "trace prints a table, a comparison and a picture, and refuses what is no timeline by place" {
  program true
  ocirun run --trace "$TMP/a" --bundle "$BUNDLE" "$ID"
  config '.hooks.prestart = [{path: "/bin/true"}]'
  ocirun run --trace "$TMP/b" --bundle "$BUNDLE" "$ID"
  run ocirun trace "$TMP/a"
  succeeds
  output_mentions "read config.json"
  output_mentions "ocirun run $ID: "
  run ocirun trace "$TMP/a" "$TMP/b"
  succeeds
  output_mentions "hook prestart hook #0 (/bin/true)"
  output_mentions "in all"
  ocirun trace --svg "$TMP/a" | python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)'
  run ocirun trace --svg "$TMP/a" "$TMP/b"
  exits 1 "--svg: draws one timeline"
  echo '{}' >"$TMP/other"
  run ocirun trace "$TMP/other"
  exits 1 "$TMP/other: /traceEvents: must be an array"
}
