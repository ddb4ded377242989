# The pids and cgroups in a container's record may belong to others by now: only the container's own processes get signals, and none of
# these is left.
# shellcheck disable=SC2016 # jq's variables, and what runs in containers
load lib/common
load lib/accidents

# two_with_one_cgroup: makes a container $ID that has ended, and a container $ID-b that runs in a cgroup of the same path.
two_with_one_cgroup() {
  create_and_start
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun create --bundle "$BUNDLE" "$ID-b" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  ocirun start "$ID-b"
}

status_of() { ocirun state "$1" | jq -r .status; }

@test "delete and kill --all of a stopped container do not touch another one that has its cgroup by now" {
  local command
  for command in delete "delete --force"; do
    two_with_one_cgroup
    ocirun kill --all "$ID" KILL
    equal running "$(status_of "$ID-b")"
    # shellcheck disable=SC2086 # words
    run ocirun $command "$ID"
    succeeds
    output_mentions "the cgroup /$ID does not belong to this container, or no longer: it is left alone"
    equal running "$(status_of "$ID-b")"
    ocirun delete --force "$ID-b"
  done
}

@test "a container whose record tells of no mark does not touch another one that has its cgroup by now either" {
  local command
  for command in delete "delete --force"; do
    two_with_one_cgroup
    jq -c 'del(.cgroupMark)' "$ROOT/$ID/state.json" >"$TMP/state"
    cp "$TMP/state" "$ROOT/$ID/state.json"
    # shellcheck disable=SC2086 # words
    run ocirun $command "$ID"
    succeeds
    output_mentions "left alone"
    equal running "$(status_of "$ID-b")"
    ocirun delete --force "$ID-b"
  done
}

@test "kill --all without a pid namespace reaches nobody in a cgroup that is another container's by now" {
  drop_namespace pid
  two_with_one_cgroup
  ocirun kill --all "$ID" KILL
  equal running "$(status_of "$ID-b")"
  ocirun delete "$ID"
  ocirun delete --force "$ID-b"
}

@test "who is in a cgroup that somebody else made where a stopped container had its own is left alone" {
  local namespaces
  for namespaces in pid none; do
    [[ $namespaces == pid ]] || drop_namespace pid
    create_and_start
    kill -KILL "$(init_pid)"
    eventually status_is stopped
    strangers_have_its_cgroup
    ocirun kill --all "$ID" KILL
    run ocirun delete "$ID"
    succeeds
    output_mentions "left alone"
    strangers_leave
    remove_cgroups "$ID"
  done
}

@test "delete --force without a cgroup and without a pid namespace kills what the program has started" {
  drop_namespace pid
  config 'del(.linux.resources, .linux.cgroupsPath)'
  script 'sleep 1001 & exec sleep 1000'
  ocirun --cgroup-manager=disabled create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  start
  eventually eval 'pgrep -f "^sleep 1001" >/dev/null'
  ocirun delete --force "$ID"
  eventually eval '! pgrep -f "^sleep 100[01]" >/dev/null'
}

# reborn_as PID: changes state.json to that of an earlier boot, with init's pid now the pid of another process.
reborn_as() {
  jq -c --argjson p "$1" --argjson t "$(start_time_of "$1")" '.bootId = "of-another-boot" | .initPid = $p | .initStartTime = $t' \
    "$ROOT/$ID/state.json" >"$TMP/state"
  cp "$TMP/state" "$ROOT/$ID/state.json"
}

start_time_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20; }

@test "after a reboot the same number and start time, and the same cgroup, are a stranger's: delete leaves them alone" {
  two_with_one_cgroup
  helper sleep 1000
  reborn_as "$HELPER"
  equal stopped "$(status_of "$ID")"
  run ocirun delete "$ID"
  succeeds
  [[ -e /proc/$HELPER ]]
  equal running "$(status_of "$ID-b")"
  ocirun delete --force "$ID-b"
}

@test "a user's record has root remove its own cgroup, and none that the record calls a parent" {
  local parents
  config '.linux.cgroupsPath = $path' --arg path "/$ID-above/c"
  create_and_start
  ocirun kill "$ID" KILL
  eventually status_is stopped
  mapfile -t parents < <(jq -r '.cgroup.createdParents[]' "$ROOT/$ID/state.json")
  rmdir "${parents[@]/%//c}"
  chown -R 12345 "$ROOT"
  run ocirun delete --force "$ID"
  succeeds
  [[ ! -e $ROOT/$ID ]]
  rmdir "${parents[@]}" # fails if delete has removed them
}
