# Hints of `ocirun pod`: each message is provoked, and its hint followed to the letter. tests/pods/documents/hints_test.cpp does the
# same for all messages about documents alone.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# says_no WORDS OPTION…: `pod validate`, `pod run` or what the options say fails with these words.
says_no() {
  run ocirun pod "${@:2}"
  equal 1 "$status"
  has "$1" "$output"
}

a_pod() { # MEMBER…: of the spec
  printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: p}' 'spec:' '  restartPolicy: Never' "${@/#/  }" >app.yaml
}

@test "an option and a command that is offered for a misspelt one is one" {
  a_pod 'containers: [{name: c, image: base, args: [echo ran]}]'
  says_no 'unknown option --ignor (did you mean --ignore?)' validate --ignor Job app.yaml
  says_no 'nothing of this name is refused' validate --ignore Job app.yaml
  says_no 'unknown command "vaildate" (did you mean validate?)' vaildate app.yaml
  ocirun pod validate app.yaml
  a_pod 'containers: [{name: c, image: base, args: [echo ran], securityContext: {capabilities: {add: [NETADMIN]}}}]'
  says_no '/securityContext/capabilities/add: unknown capability "NETADMIN" (did you mean NET_ADMIN?)' validate app.yaml
  sed -i s/NETADMIN/NET_ADMIN/ app.yaml
  ocirun pod validate app.yaml
  says_no '--restart sometimes: must be always, on-failure or never' run --restart sometimes app.yaml
  for rule in always on-failure never; do pod plan --images images --restart "$rule" -o "$rule" app.yaml; done
  says_no 'volume' run --data data --images images --volume vv=. app.yaml
  says_no '--to kubernetes or --to swarm is missing' export app.yaml
  ocirun pod export --to kubernetes app.yaml >kubernetes.yaml
}

@test "what a document needs is given by the options that the message names" {
  mkdir secret dir
  echo hidden >secret/key
  a_pod 'containers: [{name: c, image: base, args: ["cat /s/key; echo $V $W; ls -d /v /w"],
    env: [{name: V, valueFrom: {secretKeyRef: {name: db, key: key}}}, {name: W, valueFrom: {configMapKeyRef: {name: conf, key: key}}}],
    volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w}, {name: s, mountPath: /s}, {name: share, mountPath: /n}]}]' \
    'volumes: [{name: v, persistentVolumeClaim: {claimName: store}}, {name: w, persistentVolumeClaim: {claimName: kept}},
    {name: s, secret: {secretName: db}}, {name: share, nfs: {server: s, path: /}}]'
  says_no '/nfs: is not supported: write persistentVolumeClaim, for which --volume NAME=HOSTPATH gives a directory' \
    validate app.yaml
  says_no 'needs a directory for the volume "store": --volume store=HOSTPATH, or --volume store for a directory that ocirun keeps' \
    run --data data --images images --ignore nfs app.yaml
  for words in 'needs a directory for the volume "share": --volume share=HOSTPATH' 'the secret "db": a document of the kind Secret in the file, or --secret db=DIR' \
    'the config map "conf": a document of the kind ConfigMap in the file, or --secret configmap/conf=DIR'; do has "$words" "$output"; done
  run run_pod --ignore nfs --volume store=dir --volume kept --volume share=dir --secret db=secret --secret configmap/conf=secret
  equal 0 "$status"
  equal $'hidden\nhidden hidden\n/v\n/w' "$(grep -v warning output)"
  delete_pods
  run run_pod --ignore nfs --volume stor=dir
  has '--volume stor: the document names none of this name (did you mean store?)' "$(<output)"
}

@test "a name that an option cannot have is not offered for it" {
  cat >app.yaml <<'END'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  containers: {a: {image: base, command: [/bin/true], volumeMounts: [{volumeName: v, mountPath: /v}, {volumeName: w, mountPath: /w}]}}
  volumes: {v: {persistentVolume: {resourceId: "a=b"}}, w: {persistentVolume: {resourceId: "/volumes/x"}}}
END
  says_no 'a directory for the volume "a=b": --volume v=HOSTPATH, or --volume v for a directory that ocirun keeps' run --data data --images images app.yaml
  has 'a directory for the volume "/volumes/x": --volume /volumes/x=HOSTPATH' "$output"
  output_never_mentions '--volume /volumes/x for'
  mkdir dir
  run run_pod --restart never --volume v --volume /volumes/x=dir
  equal 0 "$status"
}

@test "what needs several machines is exported by the command that the message names, for each engine, or left out" {
  cat >app.yaml <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: base, args: [echo ran]}]}
END
  says_no '3 replicas need several machines: one machine runs 1; `ocirun pod export --to kubernetes` or `--to swarm` writes it for a cluster (--ignore replicas leaves it out)' \
    validate app.yaml
  ocirun pod validate --ignore replicas app.yaml
  has 'replicas: 3' "$(ocirun pod export --to kubernetes app.yaml)"
  has 'replicas: 3' "$(ocirun pod export --to swarm app.yaml)"
}

@test "a Job is written as a Pod, a sidecar moved to the containers, and the port of SCTP left out, as the messages say" {
  cat >app.yaml <<'END'
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: base, args: [echo ran; exit 3]}]}}}
END
  says_no 'app.yaml:2:7: /kind: the kind Job is not supported: write the template of its pods as a Pod (apiVersion: v1, with a name in metadata): `ocirun pod run` ends with its exit status' \
    validate app.yaml
  yq_pod='.spec.template + {apiVersion: "v1", kind: "Pod", metadata: {name: "j"}}'
  jq -n '{spec: {template: {spec: {restartPolicy: "Never", containers: [{name: "c", image: "base", args: ["echo ran; exit 3"]}]}}}}' | jq "$yq_pod" >app.json
  mv app.json app.yaml
  run run_pod
  equal 3 "$status"
  equal ran "$(<output)"
  delete_pods
  a_pod 'initContainers: [{name: side, image: base, restartPolicy: Always, args: ["touch /s/up; sleep 1000"], volumeMounts: [{name: s, mountPath: /s}]}]' \
    'containers: [{name: c, image: base, args: ["until [ -e /s/up ]; do sleep 0.1; done; echo beside"], volumeMounts: [{name: s, mountPath: /s}]}]' \
    'volumes: [{name: s, emptyDir: {}}]'
  local words='/restartPolicy: is not supported: "Always" makes the init container a sidecar, which runs beside the others: move it to containers'
  says_no "$words" validate app.yaml
  says_no "$words" run --data data --images images --ignore restartPolicy app.yaml
  a_pod 'containers: [{name: side, image: base, restartPolicy: Always, args: ["touch /s/up; sleep 1"], volumeMounts: [{name: s, mountPath: /s}]},
    {name: c, image: base, args: ["until [ -e /s/up ]; do sleep 0.1; done; echo beside"], volumeMounts: [{name: s, mountPath: /s}]}]' \
    'volumes: [{name: s, emptyDir: {}}]'
  run run_pod --ignore restartPolicy
  equal 0 "$status"
  has beside "$(<output)"
  delete_pods
  a_pod 'containers: [{name: c, image: base, args: [echo ran], ports: [{containerPort: 1, protocol: SCTP}]}]'
  says_no '/protocol: is not supported: SCTP is not forwarded, as TCP and UDP are: leave out this port' validate app.yaml
  a_pod 'containers: [{name: c, image: base, args: [echo ran], ports: []}]'
  ocirun pod validate app.yaml
}
