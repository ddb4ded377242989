# `ocirun pod wait` and `kill`, and `stop` of a pod of which no program runs, or whose image has an odd stop signal.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

@test "wait prints the exit status of a pod when it has ended; kill sends a signal to all containers or to one" {
  container one 'trap "exit 3" USR1; echo up; while :; do sleep 0.1; done'
  container two 'trap "exit 0" USR1; echo up; while :; do sleep 0.1; done'
  run_pod --detach --restart never
  eventually has_lines one 1
  eventually has_lines two 1
  pod wait "$POD" >waited 3>&- 4>&- &
  local waiter=$!
  pod kill -c two "$POD" USR1
  reaches '.containers[1].exitCode' 0
  equal running "$(says .status)"
  run pod kill -c two "$POD"
  equal 1 "$status"
  output_mentions 'container "two" does not run'
  run pod kill -c three "$POD"
  output_mentions 'the pod has no container "three", but one, two'
  pod kill "$POD" SIGUSR1
  wait "$waiter"
  equal 3 "$(<waited)"
  equal 3 "$(pod wait "$POD")" # at once
  run pod kill "$POD"
  equal 1 "$status"
  output_mentions "no container of the pod runs"
  run pod kill "$POD" SIGNOTHING
  equal 1 "$status"
  output_mentions SIGNOTHING
  local first=$POD
  POD=${POD}b
  rm app.yaml && container app 'exit 0'
  run run_pod --restart never --keep
  equal "$first 3
$POD 0" "$(pod wait "$first" "$POD")"
}

@test "wait for a pod whose supervisor is killed, or that is removed when it ends, says why there is no status" {
  container app 'exec sleep 1000'
  run_pod --detach
  pod wait "$POD" >waited 2>&1 3>&- 4>&- &
  local waiter=$!
  kill -KILL "$(says .supervisor)"
  status=0
  wait "$waiter" || status=$?
  equal 1 "$status"
  has "nobody knows how its programs end" "$(<waited)"
  pod delete --force "$POD"
  run_pod --restart never &
  eventually is_there
  reaches .status running
  pod wait "$POD" >waited 2>&1 3>&- 4>&- &
  waiter=$!
  eventually waits "$waiter"
  pod stop "$POD"
  status=0
  wait "$waiter" || status=$?
  equal 1 "$status"
  has "was removed when it ended" "$(<waited)"
}
# waits PROCESS: `pod wait` has opened the supervisor's end.
waits() { ls -l "/proc/$1/fd" "/proc/$(pgrep -P "$1" | head -n 1)/fd" 2>/dev/null | grep -q pidfd; }

@test "wait for a pod that could not be started is 1, or the status of its program; without a record it says why there is none" {
  container app 'exec sleep 1000' 'readinessProbe: {exec: {command: ["false"]}}'
  run run_pod --detach --keep --wait-ready=1
  equal 1 "$status"
  like '^[1-9][0-9]*$' "$(pod wait "$POD")"
  mkdir data/pods/cut
  run pod wait cut "$POD"
  equal 1 "$status"
  output_mentions "cut: it has no exit status: its start was cut off"
  like "$POD [1-9]" "$output"
}

@test "stop ends a pod at once whose containers all wait for their next restart" {
  container app 'exit 7'
  run_pod --detach --grace 30
  reaches '.containers[0].restarts >= 2 and .containers[0].status == "waiting"' true # the next restart is 4 s away
  timeout 3 "$OCIRUN" --root "$ROOT" pod stop --data "$TMP/data" "$POD"
  equal "stopped null" "$(says '"\(.status) \(.supervisor)"')"
}

@test "an image whose StopSignal is empty or names no signal runs, and stop sends TERM" {
  local signal
  container app 'trap "echo bye; exit 0" TERM; echo hello; while :; do sleep 0.1; done'
  for signal in "" SIGNOPE 0; do
    rm -rf images data
    make_image images base "{\"StopSignal\": \"$signal\"}" "$BUNDLE/rootfs"
    run_pod --detach
    if [[ -n $signal ]]; then
      has "app: the image's StopSignal \"$signal\" is not the name of a signal: SIGTERM is sent instead" "$(<output)"
    else
      equal "$POD" "$(<output)"
    fi
    eventually has_lines app 1
    pod stop "$POD"
    equal $'hello\nbye' "$(pod logs "$POD")"
    pod delete "$POD"
  done
}
