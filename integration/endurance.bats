load lib/common

@test "200 times create, start, kill, delete leave nothing" {
  local n
  for n in {1..200}; do
    create
    start
    ocirun kill "$ID" KILL
    wait_until_stopped
    ocirun delete "$ID"
  done
}

# Without jq and a subshell's sleep: this runs 200 times.
wait_until_stopped() {
  local tries
  for ((tries = 0; tries < 500; tries++)); do
    [[ $("$OCIRUN" --root "$ROOT" state "$ID") != *'"stopped"'* ]] || return 0
  done
  return 1
}

@test "200 runs give 200 right statuses and leave nothing" {
  local n rc
  script 'exit 3'
  for n in {1..200}; do
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
