# Repetitions, which find what a single run leaves behind too rarely: $OCIRUN_TEST_REPETITIONS, by default 60.

load lib/common

REPETITIONS=${OCIRUN_TEST_REPETITIONS:-60}

@test "many times create, start, kill, delete leave nothing" {
  local n
  for ((n = 0; n < REPETITIONS; n++)); do
    create
    start
    ocirun kill "$ID" KILL
    wait_until_stopped
    ocirun delete "$ID"
  done
}

# Uses neither jq nor sleep, because it is called at each repetition.
wait_until_stopped() {
  local deadline=$((SECONDS + 40))
  while [[ $SECONDS -lt $deadline ]]; do
    [[ $("$OCIRUN" --root "$ROOT" state "$ID") != *'"stopped"'* ]] || return 0
  done
  return 1
}

@test "many runs give as many right statuses and leave nothing" {
  local n rc
  script 'exit 3'
  for ((n = 0; n < REPETITIONS; n++)); do
    rc=0
    "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null || rc=$?
    [[ $rc == 3 ]] || { echo "run $n: status $rc"; return 1; }
  done
}

@test "100 containers at once run side by side, and leave nothing" {
  local n id pids=()
  config 'del(.linux.cgroupsPath)'
  for n in {1..100}; do
    "$OCIRUN" --root "$ROOT" run --detach --bundle "$BUNDLE" "$ID-$n" </dev/null >"$TMP/out.$n" 2>&1 3>&- 4>&- &
    pids+=($!)
    ((n % 10)) || { wait "${pids[@]}"; pids=(); }
  done
  equal 100 "$(ocirun list --quiet | wc -l)"
  equal 100 "$(ocirun list --format json | jq '[.[] | select(.status == "running")] | length')"
  for n in {1..100}; do
    id=$ID-$n
    ocirun kill "$id" KILL
  done
  for n in {1..100}; do ocirun delete --force "$ID-$n"; done
  equal "" "$(ocirun list --quiet)"
}

@test "run holds the same descriptors after 100 signals and 100 resizes as before" {
  local supervisor before n
  config '.process.terminal = true'
  script 'trap "kill -0 1" USR1; trap "stty size >/seen" USR2; while :; do sleep 0.02; done'
  helper "$LIB/pty" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  eventually status_is running
  supervisor=$(ps -o ppid= -p "$(init_pid)" | tr -d ' ')
  before=$(descriptors_of "$supervisor")
  [[ $before == *$'\n'* ]] || { echo "$before" && false; }
  for n in {1..100}; do
    kill -USR1 "$supervisor"
    stty -F "/proc/$supervisor/fd/0" rows "$n" cols 90
    sleep 0.01
  done
  eventually untraced resized
  equal "$before" "$(descriptors_of "$supervisor")"
  ocirun kill "$ID" KILL
  eventually contains "$TMP/helper.log" "status 137"
}

resized() {
  ocirun kill "$ID" USR2
  contains "$BUNDLE/rootfs/seen" "100 90"
}
