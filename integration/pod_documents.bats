# Workload documents in the forms that public documents have: what `ocirun pod` makes of them. tests/pods/documents has the rules.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# component NAME: an OAM Component with a workload inside, which says what its variable WHO is.
component() {
  cat <<END
apiVersion: core.oam.dev/v1alpha2
kind: Component
metadata: {name: $1, namespace: default}
spec:
  workload:
    apiVersion: core.oam.dev/v1alpha2
    kind: ContainerizedWorkload
    spec:
      containers:
        - name: main
          image: base
          cmd: [/bin/sh, -c]
          args: ['echo "\$WHO"']
          env: [{name: WHO, value: nobody}]
  parameters:
    - {name: who, fieldPaths: ["spec.containers[0].env[0].value"]}
END
}

@test "OAM-12 OAM-13 OAM-14 a Component is unwrapped; absent resources are a warning; cmd without args drops the image's Cmd" {
  component web >app.yaml
  run run_pod --restart never
  equal 0 "$status"
  equal nobody "$(tail -n 1 output)"
  has 'app.yaml:10:11: /spec/workload/spec/containers/0: has no resources, which OAM requires' "$(<output)"
  sed -i "s/cmd: .*/cmd: [\/bin\/echo, the, command]/; /args:/d" app.yaml
  run run_pod --restart never
  equal 0 "$status"
  equal 'the command' "$(tail -n 1 output)"
}

@test "OAM-30 OAM-31 limits and requests of Kubernetes: the error says what to write" {
  container app true
  sed -i 's/resources: .*/resources: {requests: {cpu: 250m, memory: 64Mi}, limits: {cpu: 1, memory: 1Gi}}/' app.yaml
  run --separate-stderr "$OCIRUN" pod validate app.yaml
  equal 1 "$status"
  equal "error: app.yaml:8:27: /spec/containers/0/resources/requests: is Kubernetes' form: write cpu: {required: 0.25} and \
memory: {required: 64M} into resources instead of limits and requests" "$output"
}

@test "RX-2 RX-8 RX-9 Radius as published: a list of mounts, an init container among the containers, memory, restartPolicy" {
  mkdir keys && echo secret >keys/user
  mkdir pv
  cat >app.yaml <<'END'
name: myApp
type: Radius.Compute/containers@2025-08-01-preview
properties:
  restartPolicy: Never
  containers:
    dbMigration:
      image: base
      initContainer: true
      command: [/bin/sh, -c]
      args: ["echo migrated >/data/state"]
      volumeMounts: [{volumeName: appData, mountPath: /data}]
    orderProcessor:
      image: base
      command: [/bin/sh, -c]
      args: ["cat /data/state; echo $USER; cat /keys/user; stat -f -c %T /cache; exit 3"]
      env: {USER: {valueFrom: {secretKeyRef: {secretName: app, key: user}}}}
      volumeMounts:
        - {volumeName: appData, mountPath: /data}
        - {volumeName: cache, mountPath: /cache}
        - {volumeName: keys, mountPath: /keys}
      resources: {requests: {cpu: "0.1", memoryInMib: 8}}
  volumes:
    appData: {persistentVolume: {resourceId: /pv/data}}
    cache: {emptyDir: {medium: memory}}
    keys: {secretName: app}
END
  run run_pod --secret "app=$TMP/keys" --volume "appData=$TMP/pv"
  equal 3 "$status" # and it is not started again
  equal $'migrated\nsecret\nsecret\ntmpfs' "$(sed -n 's/^orderProcessor | //p' output)"
  run run_pod
  equal 1 "$status"
  has 'orderProcessor/env/USER: needs the secret "app": a document of the kind Secret in the file, or --secret app=DIR' "$(<output)" # as `validate` says it
  has 'appData: needs a directory for the volume "/pv/data": --volume /pv/data=HOSTPATH' "$(<output)"
}

@test "AC-1 AC-5 AC-18 AC-19 a manifest that rkt has written runs; a call that is not allowed fails with ENOTSUP" {
  cat >app.yaml <<END
{"acVersion": "1.30.0", "acKind": "PodManifest", "volumes": null, "isolators": null, "ports": [],
 "annotations": [{"name": "coreos.com/rkt/stage1/mutable", "value": "false"}],
 "apps": [{"name": "web", "image": {"name": "example.com/web", "id": "sha512-$(printf 'c%.0s' {1..64})"},
  "app": {"exec": ["/bin/sh", "-c", "mkdir /d"], "user": "0", "group": "0", "isolators": [
   {"name": "os/linux/seccomp-remove-set", "value": {"errno": "ENOTSUP", "set": ["mkdir", "mkdirat"]}},
   {"name": "resource/memory", "value": {"default": false, "request": "8M", "limit": "64M"}}]}}]}
END
  run "$OCIRUN" pod validate app.yaml
  succeeds
  output_mentions 'app.yaml is valid: App Container pod manifest'
  run run_pod
  equal 1 "$status"
  has 'needs the image, which only rkt finds by this id: --image web=SOURCE names the image of the app "web"' "$(<output)"
  run run_pod --image example.com/web=images:base
  equal 1 "$status"
  has "mkdir: can't create directory '/d': Operation not supported" "$(<output)"
}

@test "${NAME} in a document stays as it is; the page's command with envsubst replaces it" {
  command -v envsubst >/dev/null || skip "needs envsubst (gettext-base)"
  cat >app.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  restartPolicy: Never
  containers: [{name: app, image: base, command: [/bin/sh, -c], args: ['echo "$V ${V#?}"'], env: [{name: V, value: "${WHO}"}]}]
END
  run_pod --env-file <(echo WHO=operator) --no-prefix
  equal '${WHO} {WHO}' "$(tail -n 1 output)"
  local line
  line=$(sed -n 's/^\.Dl \$ \(WHO=.*\)/\1/p' "$BATS_TEST_DIRNAME/../man/ocirun-pod-documents.7" | sed "s/\\\\(aq/'/g")
  equal "WHO=world envsubst '\${WHO}' <app.yaml | ocirun pod run -" "$line"
  PATH=${OCIRUN%/*}:$PATH bash -c "${line/run -/run --data $TMP/data --images images --net none --name $POD --no-prefix -}" >output 2>&1
  equal "world orld" "$(tail -n 1 output)"
}

@test "OAM-1 OAM-2 OAM-3 an ApplicationConfiguration sets the parameters of the Component in its file; --ignore leaves out a trait" {
  component web >app.yaml
  cat >>app.yaml <<'END'
---
apiVersion: core.oam.dev/v1alpha2
kind: ApplicationConfiguration
metadata: {name: shop}
spec:
  components:
    - componentName: web
      parameterValues: [{name: who, value: somebody}]
      traits: [{trait: {apiVersion: oam.example.com/v1, kind: IngressTrait, spec: {}}}]
END
  run run_pod --restart never
  equal 1 "$status"
  has 'the trait IngressTrait is one of a cluster (--ignore IngressTrait leaves it out)' "$(<output)"
  run run_pod --restart never --ignore IngressTrait
  equal 0 "$status"
  equal somebody "$(tail -n 1 output)"
}
