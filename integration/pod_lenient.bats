# What templates write and the API of Kubernetes takes: empty values, quantities with an exponent, a variable twice, numbers that YAML 1.1
# and YAML 1.2 read otherwise.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# pod MEMBERS [LINE…]: writes app.yaml with a Pod whose container has these members, and the lines into its spec.
pod_of() {
  printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: shop}' 'spec:' '  restartPolicy: Never' "${@:2}" \
    "  containers: [{name: app, image: base, $1}]" >app.yaml
}

@test "an empty list of arguments keeps the image's, in Kubernetes, OAM and Radius" {
  local empty
  for empty in 'args: []' 'command: [], args: []' 'command: [], args: [], workingDir: "", imagePullPolicy: ""'; do
    pod_of "$empty"
    run_pod || show_output
    has 'from the image' "$(<"$TMP/output")"
    equal 0 "$(ocirun pod export --to kubernetes app.yaml | grep -c 'args\|command')"
    equal 0 "$(ocirun pod export --to swarm app.yaml | grep -c '  command:\|entrypoint:')"
    delete_pods
  done
  pod_of 'command: [/bin/echo], args: []'
  run_pod || show_output
  [[ $(<"$TMP/output") != *"from the image"* ]]
  delete_pods

  printf '%s\n' 'apiVersion: core.oam.dev/v1alpha2' 'kind: ContainerizedWorkload' 'metadata: {name: shop}' 'spec:' \
    '  containers: [{name: app, image: base, cmd: [], args: [], resources: {cpu: {required: 0.1}, memory: {required: 8M}}}]' >app.yaml
  run_pod --restart never || show_output
  has 'from the image' "$(<"$TMP/output")"
  delete_pods

  printf '%s\n' 'name: shop' 'type: Radius.Compute/containers@2025-08-01-preview' \
    'properties: {environment: e, application: a, containers: {app: {image: base, command: [], args: [], workingDir: ""}}}' >app.yaml
  run_pod --restart never || show_output
  has 'from the image' "$(<"$TMP/output")"
}

@test "a user with a leading zero is refused with both readings, and quantities and names are read as kubectl's" {
  pod_of 'args: ["id -u"]' '  securityContext: {runAsUser: 010}'
  if run_pod; then false; fi
  has 'runAsUser: 010 is 8 in YAML 1.1, as kubectl reads it, and 10 in YAML 1.2' "$(<"$TMP/output")"
  pod_of 'args: ["id -u; echo $A; grep CapBnd /proc/self/status; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max"],
    env: [{name: A, value: one}, {name: A, value: two}], resources: {limits: {memory: 1e8}},
    securityContext: {runAsUser: 0x8, capabilities: {drop: [all]}}'
  run_pod || :
  has $'\n8\ntwo\n' "$(<"$TMP/output")"
  has '"A" is set by item 0 too' "$(<"$TMP/output")"
  like 'CapBnd:[[:space:]]*0000000000000000' "$(<"$TMP/output")"
  has 99999744 "$(<"$TMP/output")" # 100000000 in whole pages
}
