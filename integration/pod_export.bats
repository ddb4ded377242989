# `ocirun pod export`: workload documents as objects of Kubernetes. tests/pods/export has the rules.
# shellcheck disable=SC2016,SC2154 # texts for the shells of containers; $stderr

load lib/common
source "$LIB/pod-scene.bash"

# export_app [OPTION…]: exports app.yaml; the output is in $output, what is told in $stderr.
export_app() { run --separate-stderr "$OCIRUN" pod export --to kubernetes --name shop "$@" app.yaml; }

# objects FILTER: what a jq filter says of the list of the objects in $output.
objects() { python3 -c 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))' <<<"$output" | jq -r "$1"; }

radius() {
  cat >app.yaml <<'END'
name: shop
properties:
  containers:
    web:
      image: example.com/web:1
      env: {ANSWER: {value: 'no'}, TIME: {value: '12:30'}, OCTAL: {value: '0755'}}
      ports: {http: {containerPort: 8080, port: 80}}
      resources: {requests: {cpu: 0.1, memoryInMiB: 64}}
  replicas: 2
  autoScaling: {maxReplicas: 5, metrics: [{kind: cpu, target: {averageUtilization: 60}}]}
END
}

@test "RX-7 RX-14 RX-15 a Radius resource becomes a Deployment, a Service and an autoscaler; run names the command" {
  radius
  run run_pod
  equal 1 "$status"
  has '2 replicas need several machines: one machine runs 1; `ocirun pod export --to kubernetes` or `--to swarm` writes it' "$(<output)"
  export_app --runtime-class ocirun
  equal 0 "$status"
  equal '' "$stderr"
  equal 'RuntimeClass Service Deployment HorizontalPodAutoscaler' "$(objects 'map(.kind) | join(" ")')"
  equal '2 5 60' "$(objects '.[3].spec | "\(.minReplicas) \(.maxReplicas) \(.metrics[0].resource.target.averageUtilization)"')"
  equal '80 8080' "$(objects '.[1].spec.ports[0] | "\(.port) \(.targetPort)"')"
  equal 'no 12:30 0755' "$(objects '.[2].spec.template.spec.containers[0].env | map(.value) | join(" ")')" # PyYAML reads YAML 1.1
  export_app --lossy --kind Pod
  equal 0 "$status"
  has '# Differs: app.yaml:10:16: /properties/autoScaling: a Pod does not scale: --kind Deployment does' "$output"
  export_app --pull missing --pull-timeout 5
  equal IfNotPresent "$(objects '.[] | select(.kind == "Deployment").spec.template.spec.containers[0].imagePullPolicy')"
  has '--pull-timeout has no effect: the engine has its own time limits' "$stderr"
}

@test "OAM-16 OAM-23 OAM-36 an OAM workload: config files, a pull secret, a claim, and options" {
  container web 'echo' 'imagePullSecret: registry' 'config: [{path: /etc/motd, value: "a\nb\n"}, {path: /etc/x, fromParam: p}]'
  sed -i 's/memory: {required: 8M}}/memory: {required: 8M}, volumes: [{name: data, mountPath: \/data, disk: {required: 1G}}]}/' app.yaml
  export_app --env A=b --user 7:8 --read-only --seccomp default
  equal 1 "$status"
  has 'app.yaml:12:' "$stderr"
  has 'needs the parameter "p": --param p=VALUE' "$stderr"
  export_app --param 'p=$(x)' --env 'A=$(b)' --user 7:8 --read-only --seccomp default
  equal 0 "$status"
  equal '' "$stderr"
  equal 'ConfigMap PersistentVolumeClaim Deployment' "$(objects 'map(.kind) | join(" ")')"
  equal '{"web.motd":"a\nb\n","web.x":"$(x)"}' "$(objects '.[0].data | tojson')"
  equal 1Gi "$(objects '.[1].spec.resources.requests.storage')"
  equal registry "$(objects '.[2].spec.template.spec.imagePullSecrets[0].name')"
  equal '$$(b)' "$(objects '.[2].spec.template.spec.containers[0].env[0].value')"
  equal '{"runAsUser":7,"runAsGroup":8,"readOnlyRootFilesystem":true,"seccompProfile":{"type":"RuntimeDefault"}}' \
    "$(objects '.[2].spec.template.spec.containers[0].securityContext | tojson')"
}

@test "what an export cannot take over from this machine is an error or a warning" {
  container web 'echo'
  export_app --image base=images
  equal 1 "$status"
  has '--image base=images: is an image of this machine alone: base=docker://REFERENCE names one in a registry' "$stderr"
  export_app --image base=docker://Bad
  equal 1 "$status"
  has '--image base=docker://Bad: ' "$stderr"
  export_app --image base=docker://example.com/base:2 --images images
  equal 0 "$status"
  has 'warning: --images has no effect: an engine fetches images from a registry' "$stderr"
  export_app --image base=docker://example.com/base:2 --device vendor.com/gpu=0
  equal 0 "$status"
  has 'warning: --device has no effect: the engine chooses devices, which limits of a container ask for' "$stderr"
  equal example.com/base:2 "$(objects '.[0].spec.template.spec.containers[0].image')"
  export_app --volume dat=/srv
  equal 1 "$status"
  has '--volume dat: the document names none of this name' "$stderr"
  export_app --size data=1Gi
  equal 1 "$status"
  has '--size data=1Gi: the document has no persistent volume "data"' "$stderr"
  export_app --size data=lots
  equal 1 "$status"
  has '--size data=lots: the size must be a number of bytes above 0' "$stderr"
  export_app --kind Job
  equal 1 "$status"
  has '--kind Job: must be Deployment, Pod or StatefulSet' "$stderr"
  export_app --seccomp file.json
  equal 1 "$status"
  has '--seccomp ' "$stderr"
  run --separate-stderr "$OCIRUN" pod export app.yaml
  equal 1 "$status"
  has '--to kubernetes or --to swarm is missing' "$stderr"
  run --separate-stderr "$OCIRUN" pod export --to mars app.yaml
  equal 1 "$status"
  has '--to mars: must be kubernetes or swarm' "$stderr"
}

# is_valid: the objects in $output conform to the schemas of Kubernetes.
is_valid() {
  equal 0 "$status"
  objects . | "$LIB/kubernetes-validates" "$OCIRUN_TEST_SCHEMAS"
}

@test "the objects conform to the schemas of Kubernetes" {
  local kind
  [[ -d ${OCIRUN_TEST_SCHEMAS-}/node_modules ]] || skip "no schemas: ./dev part schemas fetches them"
  run "$LIB/kubernetes-validates" "$OCIRUN_TEST_SCHEMAS" <<<'[{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": 7}}]'
  equal 1 "$status" # a control
  has 'v1 Pod: data/spec/containers must be array' "$output"
  for kind in Deployment StatefulSet; do
    rm -f app.yaml && radius && export_app --kind "$kind" --runtime-class ocirun && is_valid
    rm app.yaml && container web echo 'config: [{path: /etc/motd, value: hello}]' 'ports: [{name: http, containerPort: 80}]' \
      'readinessProbe: {httpGet: {path: /, port: 80}}' 'imagePullSecret: registry'
    sed -i 's/memory: {required: 8M}}/memory: {required: 8M}, volumes: [{name: data, mountPath: \/data, disk: {required: 1G}}]}/' app.yaml
    export_app --kind "$kind" --user 1:2 --read-only --seccomp default && is_valid
  done
  export_app --restart never && is_valid
}

@test "pods/README.md: each line about many machines runs" {
  local line count=0
  container web 'echo' 'ports: [{name: http, containerPort: 8080}]' 'livenessProbe: {exec: {command: ["true"]}}'
  while read -r line; do
    run bash -c "$line"
    equal 0 "$status"
    [[ $line == *--output* || $output == *web* ]]
    count=$((count + 1))
  done < <(sed -n '/^## When one machine/,/^## Processes/p' "$BATS_TEST_DIRNAME/../pods/README.md" | sed -n "s|^ocirun pod|$OCIRUN pod|; /^\//s/ *#.*//p")
  equal 5 "$count"
  [[ -s stack/compose.yaml ]]
}
