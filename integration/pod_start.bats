# `ocirun pod start` and `restart`: a pod that has ended runs again as it was run.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

lines() { pod logs "$POD"; }
says_once() { [[ $(lines) == "$1" ]]; }
quiet_pod() { quietly pod "$@"; }

@test "start runs a pod that has ended again: its document as it was, its options, its directory, the values of its variables" {
  container app 'echo "$A $B $(cat /etc/c)"; exec sleep 1000' 'config: [{path: /etc/c, value: config}]'
  mkdir elsewhere
  B=caller run_pod --detach --env 'A=two words' --env B --restart never
  eventually says_once "two words caller config"
  pod stop "$POD"
  equal stopped "$(says .status)"
  rm app.yaml
  cp -r data elsewhere # not the one that is meant
  cd elsewhere # relative paths of the first run begin at its directory
  quietly ocirun pod start --data ../data "$POD"
  equal "$POD" "$(<"$TMP/output")"
  equal running "$(says .status)"
  eventually says_once "two words caller config"
  quiet_pod start "$POD"
  has "the pod \"$POD\" runs already" "$(<"$TMP/output")"
  equal 600 "$(stat -c %a "$TMP/data/pods/$POD/run.json")"
}

@test "start runs a pod again that died without its supervisor, that died with the machine, and one with a document from standard input" {
  container app 'exec sleep 1000'
  ocirun pod run --data "$TMP/data" --images images --net none --grace 1 --detach --name "$POD" - <app.yaml >"$TMP/output" 2>&1 3>&- 4>&-
  local first
  first=$(says '.containers[0].pid')
  kill -KILL "$(says .supervisor)"
  eventually is_now .supervisor null
  kill -KILL "$first"
  has_stopped() { [[ $(ocirun state "$POD.app" | jq -r .status) == stopped ]]; }
  eventually has_stopped
  quiet_pod start "$POD"
  equal running "$(says .status)"
  [[ $(says '.containers[0].pid') != "$first" ]]
  pod stop "$POD"
  sed -i 's/"bootId": "[^"]*"/"bootId": "00000000-0000-0000-0000-000000000000"/' "data/pods/$POD/pod.json"
  quiet_pod start "$POD"
  equal running "$(says .status)"
}

@test "restart stops the pod in order and runs it again; a pod that cannot be started keeps its record" {
  container app 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.1; done'
  run_pod --detach
  local first
  first=$(says '.containers[0].pid')
  eventually says_once up
  quiet_pod restart --grace 5 "$POD"
  equal running "$(says .status)"
  [[ $(says '.containers[0].pid') != "$first" ]]
  mv images away
  run quiet_pod restart "$POD" # tries before it stops the old one
  equal 1 "$status"
  equal running "$(says .status)"
  pod stop "$POD"
  run quiet_pod start "$POD" # the image is in the store, and its layout is not there
  equal 1 "$status"
  equal stopped "$(says .status)"
  mv away images
  quiet_pod start "$POD"
  equal running "$(says .status)"
}

@test "start without a run.json says how the pod is run" {
  container app 'exec sleep 1000'
  run_pod --detach
  pod stop "$POD"
  rm "data/pods/$POD/run.json"
  run pod start "$POD"
  equal 1 "$status"
  output_mentions "the pod \"$POD\" has no run.json"
  run pod start absent
  equal 1 "$status"
  output_mentions 'there is no pod "absent"'
  echo '{"format": 99}' >"data/pods/$POD/run.json"
  run pod start "$POD"
  equal 1 "$status"
  output_mentions "run.json"
  output_mentions "newer"
  run pod start one two
  output_mentions '"two" is one operand too many: start takes POD'
}

@test "restart -c restarts one container at once, whatever the rule is; the others go on" {
  container one 'echo up; exec sleep 1000'
  container two 'trap "exit 3" TERM; echo up; while :; do sleep 0.1; done'
  run_pod --detach --restart never
  local one
  one=$(says '.containers[0].pid')
  quiet_pod restart -c two "$POD"
  equal "running 1 running 0 $one" "$(says '"\(.containers[1].status) \(.containers[1].restarts) \(.containers[0].status) \(.containers[0].restarts) \(.containers[0].pid)"')"
  eventually has_lines two 2
  has "restarting stopping exited created started" "$(pod events "$POD" | jq -r 'select(.container == "two").event' | xargs)"
  pod kill -c two "$POD" KILL
  reaches '.containers[1].status' exited
  quiet_pod restart -c two "$POD" # it has ended for good
  equal running "$(says '.containers[1].status')"
  run pod restart -c three "$POD"
  equal 1 "$status"
  output_mentions 'the pod has no container "three" that can be restarted, but one, two'
  run pod restart -c two --grace 3 "$POD"
  equal 1 "$status"
  output_mentions "--grace is for the whole pod"
  pod stop "$POD"
  run pod restart -c two "$POD"
  equal 1 "$status"
  output_mentions "the pod is stopped, and a container can be restarted in a running pod only"
}

@test "restart -c of a program that ignores the signal restarts once; a stop with less grace ends the wait" {
  container app 'trap "" TERM; echo up; while :; do sleep 0.1; done'
  run_pod --detach --grace 4
  eventually says_once up
  quiet_pod restart -c app "$POD" # asks again after two and four seconds
  sleep 1
  equal 1 "$(says '.containers[0].restarts')"
  equal 1 "$(pod events "$POD" | jq -r .event | grep -c restarting)"
  pod stop "$POD" && pod delete "$POD"
  run_pod --detach --grace 1000
  eventually says_once up
  quiet_pod restart -c app "$POD" &
  local restart=$!
  eventually has_event stopping
  pod stop --grace 1 "$POD"
  equal stopped "$(says .status)"
  wait $restart || true
}

@test "run of a name that a pod has says so, and not that the pod has the port" {
  container app 'exec sleep 1000' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach
  run run_pod --detach
  equal 1 "$status"
  has "a pod \"$POD\" exists: \`ocirun pod delete $POD\` removes it" "$(<"$TMP/output")"
}
