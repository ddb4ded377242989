# Many containers in one state root: $OCIRUN_TEST_CONTAINERS, by default 200.

load lib/common

COUNT=${OCIRUN_TEST_CONTAINERS:-200}

# crowd: makes $COUNT created containers, $ID-1 and so on, which cost little: two namespaces, no mounts, no cgroup.
crowd() {
  local small=$TMP/small
  mkdir "$small"
  cp -a "$BATS_RUN_TMPDIR/bundle/rootfs" "$small/rootfs"
  jq 'del(.mounts, .linux.cgroupsPath, .linux.resources, .linux.seccomp, .linux.maskedPaths, .linux.readonlyPaths, .hostname)
    | .linux.namespaces = [{type: "pid"}, {type: "mount"}]' "$BUNDLE/config.json" >"$small/config.json"
  seq "$COUNT" | xargs -P 2 -I{} "$OCIRUN" --root "$ROOT" --cgroup-manager disabled create --bundle "$small" "$ID-{}" \
    >"$TMP/crowd" 2>&1 3>&- 4>&- || { cat "$TMP/crowd"; return 1; }
  equal "$COUNT" "$(ocirun list --quiet | wc -l)"
}

disperse() { seq "$COUNT" | xargs -P 2 -I{} "$OCIRUN" --root "$ROOT" delete --force "$ID-{}" 3>&- 4>&-; }

# system_calls COMMAND…: prints the number of system calls of the command's own process, without init. $TMP/trace lists them.
system_calls() {
  strace -qq -y -o "$TMP/trace" "$OCIRUN" --root "$ROOT" "$@" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output >&2
  if grep -F "getdents64" "$TMP/trace" | grep -qF "<$ROOT>"; then echo "$1 reads the whole state root" >&2; return 1; fi
  grep -cE '^[a-z_0-9]+\(' "$TMP/trace"
}

# about WHAT BEFORE AFTER: the numbers differ by at most half a call for each container. A few calls vary with the timing of messages.
about() {
  [[ $3 -le $(($2 + COUNT / 2)) ]] || { echo "$1: $2 system calls alone, $3 among $COUNT others"; return 1; }
}

statuses_are() { [[ $(statuses) == "$1" ]]; }
statuses() { ocirun list --format json | jq -c '[.[].status] | group_by(.) | map([.[0], length])'; }

@test "what create and state do does not grow with the number of containers" {
  command -v strace >/dev/null || skip "needs strace"
  local create_alone state_alone create_among state_among
  create_alone=$(system_calls create --bundle "$BUNDLE" "$ID")
  state_alone=$(system_calls state "$ID")
  [[ $create_alone -gt 50 && $state_alone -gt 5 ]]
  ocirun delete --force "$ID"
  crowd
  create_among=$(system_calls create --bundle "$BUNDLE" "$ID")
  state_among=$(system_calls state "$ID")
  equal "\"$ID\"" "$(jq .id "$TMP/output")"
  equal "$state_alone" "$state_among"
  about create "$create_alone" "$create_among"
  disperse
}

@test "list, state, ps and kill find the one they are asked for among many" {
  local pid
  crowd
  create_and_start
  pid=$(init_pid)
  equal "$((COUNT + 1))" "$(ocirun list --quiet | wc -l)"
  ocirun list --quiet >"$TMP/ids"
  LC_ALL=C sort -c "$TMP/ids"
  equal "[[\"created\",$COUNT],[\"running\",1]]" "$(statuses)"
  equal "$((COUNT + 1))" "$(ocirun list --format json | jq '[.[].pid] | unique | length')"
  equal "[$pid]" "$(ocirun ps --format json "$ID" | jq -c .)"
  equal "$ID-$COUNT created" "$(ocirun state "$ID-$COUNT" | jq -r '.id + " " + .status')"
  ocirun kill "$ID-7" KILL
  ocirun kill "$ID" KILL
  eventually status_is stopped
  eventually statuses_are "[[\"created\",$((COUNT - 1))],[\"stopped\",2]]"
  equal "stopped" "$(ocirun state "$ID-7" | jq -r .status)"
  ocirun delete "$ID-7"
  equal "$COUNT" "$(ocirun list --quiet | wc -l)"
  run ocirun state "$ID-7"
  exits 1
  disperse
}

# with_memory KIB COMMAND…: runs the command with at most KIB of address space.
with_memory() { (ulimit -v "$1" && "${@:2}"); }

@test "list of many with little memory lists all or says what is missing" {
  local limit=2800 first=0 refused=0
  config '.annotations = {"long": ("x" * 20000)}'
  crowd
  until with_memory "$limit" "$OCIRUN" --version >/dev/null 2>&1; do
    limit=$((limit + 50))
    [[ $limit -lt 100000 ]] || skip "a build with a sanitizer has no limit of its address space"
  done
  while [[ $limit -lt 60000 ]]; do
    limit=$((limit * 105 / 100))
    run with_memory "$limit" "$OCIRUN" --root "$ROOT" list
    if [[ $status == 0 ]]; then
      equal "$((COUNT + 1))" "${#lines[@]}"
      [[ $first != 0 ]] || first=$limit
    else
      exits 1 "memory"
      # The stacks of seven threads and what their memory allocators keep.
      [[ $first == 0 || $limit -lt $((first + 8192)) ]] || { echo "$limit KiB are too few, $first KiB were enough"; return 1; }
      refused=$((refused + 1))
    fi
  done
  [[ $first != 0 && $refused -gt 0 ]] || { echo "first listed at $first KiB, refused $refused times"; return 1; }
  disperse
}
