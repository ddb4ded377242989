# The timeline of a pod's start: `pod run --trace`.
# shellcheck disable=SC2016 # texts for the shells of containers
load lib/common
source "$LIB/pod-scene.bash"

# lanes FILE: prints the lanes. steps FILE LANE: prints the names of its steps in their order.
lanes() { jq -r '.traceEvents[] | select(.name == "thread_name").args.name' "$1"; }
steps() {
  jq -r --arg lane "$2" '.traceEvents as $all
    | ($all[] | select(.name == "thread_name" and .args.name == $lane).tid) as $tid
    | [$all[] | select(.ph == "X" and .tid == $tid)] | sort_by(.ts)[].name' "$1"
}
# longer_than MS FILE LANE STEP: the step of that name took longer.
longer_than() {
  jq -e --arg lane "$3" --arg name "$4" --argjson least "$1" '.traceEvents as $all
    | ($all[] | select(.name == "thread_name" and .args.name == $lane).tid) as $tid
    | [$all[] | select(.ph == "X" and .tid == $tid and .name == $name).dur / 1000] | add >= $least' "$2" >/dev/null
}

@test "pod run --trace shows the image, the plan, each container's start and its probes until it is ready" {
  container slow 'sleep 0.4; touch /up; exec sleep 1000' 'readinessProbe: {exec: {command: [test, -e, /up]}, periodSeconds: 1}'
  container fast 'exec sleep 1000'
  run_pod --detach --wait-ready --trace "$TMP/trace"
  equal 600 "$(stat -c %a "$TMP/trace")"
  local step
  for step in "read the document" "plan the pod" "wait for the supervisor"; do
    steps "$TMP/trace" ocirun | grep -qx "$step"
  done
  for step in "find the image" "make the sandbox" "start the containers" "wait until ready"; do
    steps "$TMP/trace" supervisor | grep -qx "$step"
  done
  equal "ask whether the id is free,create,start" "$(steps "$TMP/trace" fast | paste -sd ,)"
  equal "ask whether the id is free,create,start,wait until ready" "$(steps "$TMP/trace" slow | paste -sd ,)"
  longer_than 300 "$TMP/trace" slow "wait until ready"
  run ocirun trace "$TMP/trace"
  succeeds
  output_mentions "find the image base"
}

@test "a pod in the foreground writes its timeline when it has started, and one that fails writes it too" {
  container app 'echo up; trap "exit 0" TERM; while :; do sleep 0.1; done'
  run_pod --trace "$TMP/trace" &
  HELPERS+=($!)
  eventually test -s "$TMP/trace"
  steps "$TMP/trace" ocirun | grep -qx "start the containers"
  equal "ask whether the id is free,create,start" "$(steps "$TMP/trace" app | paste -sd ,)"
  pod stop "$POD"
  sed -i 's|/bin/sh|/bin/none|' app.yaml
  run -127 run_pod --trace "$TMP/failed"
  lanes "$TMP/failed" | grep -qx app
  run ocirun pod run --data "$TMP/data" --trace "$TMP/none/trace" app.yaml
  exits 1 "--trace: "
}
