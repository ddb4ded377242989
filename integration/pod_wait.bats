# `ocirun pod wait` and `kill`.
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
  output_mentions "no container of the pod runs"
  run pod kill "$POD" SIGNOTHING
  equal 1 "$status"
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
  sleep 0.3
  pod stop "$POD"
  status=0
  wait "$waiter" || status=$?
  equal 1 "$status"
  has "was removed when it ended" "$(<waited)"
}
