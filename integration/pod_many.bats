# Many pods at once: 10, or $OCIRUN_TEST_PODS (`./dev test --all`: 50).

load lib/common
source "$LIB/image.bash"
source "$LIB/pods.bash"

teardown() {
  delete_pods
  common_teardown
}

@test "pods that are started at once, from an image that none has unpacked, run and end at once" {
  local number pids=() pods=() many=${OCIRUN_TEST_PODS:-10}
  make_image images base '{"Cmd":["/bin/sh","-c","trap \"exit 0\" TERM; hostname; while :; do sleep 0.2; done"]}' "$BUNDLE/rootfs"
  printf '%s\n' 'apiVersion: core.oam.dev/v1alpha2' 'kind: ContainerizedWorkload' 'metadata: {name: many}' 'spec:' '  containers:' \
    '    - {name: one, image: base, resources: {cpu: {required: 0.01}, memory: {required: 2M}}}' \
    '    - {name: two, image: base, resources: {cpu: {required: 0.01}, memory: {required: 2M}}}' >app.yaml
  for ((number = 0; number < many; number++)); do
    pods+=("$ID-$number")
    pod run --images images --net none --detach --name "$ID-$number" app.yaml </dev/null >"$number.output" 2>&1 3>&- 4>&- &
    pids+=($!)
  done
  for ((number = 0; number < many; number++)); do wait "${pids[number]}" || { cat "$number.output" && return 1; }; done
  equal "$many" "$(pod status --format json | jq '[.[] | select(.status == "running" and ([.containers[].status] == ["running", "running"]))] | length')"
  equal 1 "$(find data/images/layers -mindepth 1 -maxdepth 1 | wc -l)"
  for POD in "${pods[@]}"; do
    eventually has_lines one 1
    equal "$POD" "$(pod logs -c one "$POD")"
  done
  pod stop "${pods[@]}"
  equal "$many" "$(pod status --format json | jq '[.[] | select(.status == "stopped" and ([.containers[].exitCode] == [0, 0]))] | length')"
  pod delete "${pods[@]}"
  equal "" "$(pod_names)"
  equal "" "$(ocirun list -q)"
}
