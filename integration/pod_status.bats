# `ocirun pod status`: what it says of pods that are not well.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

@test "a program that ends again and again: the last exit status, and when the next start comes" {
  container app 'exit 3'
  run_pod --detach
  waits() { [[ $(says '.containers[0] | "\(.status) \(.restarts) \(.nextStart != null)"') == "waiting 2 true" ]]; }
  eventually waits # 4 s lie before the third restart
  like "$POD +running +0/1 +2 +[^ ].* app: exited with status 3; starts again in [1-4] s" "$(pod status)"
  like "app +waiting +no +2 +- +3 +exited with status 3; starts again in [1-4] s" "$(pod status "$POD")"
  local next
  next=$(says '.containers[0].nextStart')
  like '^20[0-9-]+T[0-9:]+\.[0-9]+Z$' "$next"
  (($(date -d "$next" +%s) - $(date +%s) <= 4))
  # A program that runs has no next start.
  sed -i 's/exit 3/sleep 1000/' app.yaml
  run_pod --detach --replace
  equal "running null" "$(says '.containers[0] | "\(.status) \(.nextStart)"')"
  like "$POD +running +1/1 +0 +[^ ]+ [^ ]+\$" "$(pod status | tail -1)"
}

@test "a pod within its grace period is stopping, and ends as stopped" {
  container app 'trap "" TERM; touch /ready; while :; do sleep 0.1; done'
  run_pod --detach
  pod exec "$POD" sh -c 'until [ -e /ready ]; do sleep 0.1; done'
  pod stop --grace 60 "$POD" 3>&- &
  local stop=$!
  reaches .status stopping
  like "$POD +stopping " "$(pod status)"
  run pod start "$POD"
  equal 1 "$status"
  has "the pod \"$POD\" is stopping: \`ocirun pod wait $POD\` waits for its end" "$output"
  run pod restart -c app "$POD"
  has "the pod is stopping, and a container can be restarted in a running pod only" "$output"
  pod kill "$POD" KILL
  wait $stop
  equal "stopped null" "$(says '"\(.status) \(.reason)"')"
}

@test "a replacement of a pod that is stopping waits for its grace period" {
  container app 'trap "until [ -e /end ]; do sleep 0.1; done; echo ended by itself >/v/said; exit 0" TERM; touch /ready; while :; do sleep 0.1; done'
  mkdir vol
  sed -i 's|resources: {cpu: {required: 0.1}, memory: {required: 8M}}|resources: {cpu: {required: 0.1}, memory: {required: 8M}, volumes: [{name: v, mountPath: /v}]}|' app.yaml
  run_pod --detach --grace 60 --volume "v=$TMP/vol"
  pod exec "$POD" sh -c 'until [ -e /ready ]; do sleep 0.1; done'
  local old
  old=$(says '.containers[0].pid')
  pod stop "$POD" 3>&- &
  reaches .status stopping
  run_pod --detach --replace --grace 60 --volume "v=$TMP/vol" &
  local replacement=$!
  eventually grep -q 'stopping the pod' "$TMP/output"
  sleep 0.3
  kill -0 "$old" # a second signal of `stop` would have killed it
  touch "/proc/$old/root/end"
  wait $replacement
  equal "ended by itself" "$(<vol/said)"
  equal running "$(says .status)"
  pod kill "$POD" KILL
}

@test "a reason begins with what happened, fits 80 columns in the table, and is whole in JSON" {
  container app 'exit 0'
  sed -i 's|cmd: .*|cmd: [/bin/nothing-of-this-name]|; /args:/d' app.yaml
  run -127 run_pod --detach --keep
  like '^exec: "/bin/nothing-of-this-name": .*no such file or directory \(.*ocirun create exited with status 1\)$' "$(says '.containers[0].reason')"
  like '^app.yaml:[0-9:]+ /spec/containers/0/.*: container "app": exec: "/bin/nothing' "$(says .reason)"
  like "$POD +failed +0/1 +0 +[^ ]+ [^ ]+ +app: exec: \"/bin/nothing-of-this-name\": " "$(pod status)"
  local reason
  for reason in "$(pod status | tail -1 | grep -o 'app: exec.*')" "$(pod status "$POD" | tail -1 | grep -o 'exec: .*')"; do
    has ... "$reason"
    ((${#reason} <= 80))
  done
}

@test "stop -t gives the grace period" {
  container app 'trap "" TERM; touch /ready; while :; do sleep 0.1; done'
  run_pod --detach --grace 1000
  pod exec "$POD" sh -c 'until [ -e /ready ]; do sleep 0.1; done'
  pod stop -t 1 "$POD"
  equal "stopped 137" "$(says '"\(.status) \(.containers[0].exitCode)"')"
}
