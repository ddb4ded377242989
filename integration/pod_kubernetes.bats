# Pods, Deployments and StatefulSets of Kubernetes as pods. tests/pods/documents/kubernetes has the rules of the documents, tests/pods/export
# the round trips.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

setup_file() { add_way_outside; }
teardown_file() { remove_way_outside; }

# script TEXT: command and args of a container that runs a script.
script() { echo "command: [/bin/sh, -c], args: [$(jq -Rs . <<<"$1")]"; }
ANSWERS='mkdir -p /www; echo hello >/www/index.html; exec busybox httpd -f -p 8080 -h /www'

# shop: a Pod with a config map, a secret and a claim beside it.
shop() {
  cat >app.yaml <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {greeting: hello, app.ini: "colour = blue\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: hidden}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: store}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: shop, labels: {app: shop, tier: front}}
spec:
  securityContext: {runAsUser: 1000, runAsGroup: 1001, fsGroup: 2000, supplementalGroups: [3000]}
  terminationGracePeriodSeconds: 1
  initContainers:
    - {name: prepare, image: base, $(script 'umask 007; echo "$POD $TIER" >>/data/runs; stat -c "%g %a" /data/runs'),
       env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
             {name: TIER, valueFrom: {fieldRef: {fieldPath: "metadata.labels['tier']"}}}],
       volumeMounts: [{name: data, mountPath: /data}]}
  containers:
    - {name: app, image: base, imagePullPolicy: Never, command: [/bin/sh, -c, '$1', sh, "\$(GREETING) \$\$"],
       envFrom: [{configMapRef: {name: settings}, prefix: C_}],
       env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}, {name: GREETING, value: "\$(C_greeting) you"}],
       volumeMounts: [{name: data, mountPath: /data}, {name: conf, mountPath: /conf}, {name: keys, mountPath: /keys},
                      {name: tmp, mountPath: /scratch}],
       ports: [{name: http, containerPort: 8080${2:+, $2}}],
       livenessProbe: {exec: {command: [/bin/true]}, periodSeconds: 1},
       readinessProbe: {exec: {command: [/bin/sh, -c, "[ -e /scratch/ready ]"]}, periodSeconds: 1, timeoutSeconds: 30},
       securityContext: {runAsUser: 1002, capabilities: {drop: [CHOWN], add: [SYS_TIME]}}}
  volumes:
    - {name: data, persistentVolumeClaim: {claimName: store}}
    - {name: conf, configMap: {name: settings, items: [{key: app.ini, path: app.ini}]}}
    - {name: keys, secret: {secretName: db, defaultMode: 0400}}
    - {name: tmp, emptyDir: {medium: Memory}}
END
}

@test "a Pod: init container, config map, secret, fields, probes, security, and a claim that stays over delete" {
  shop 'id -u; id -g; id -G; echo "$@"; echo "$PASSWORD"; cat /conf/app.ini /data/runs /keys/password; echo;
    stat -Lc "%g %a" /keys/password /scratch; grep CapBnd /proc/self/status; touch /scratch/ready; exec sleep 1000'
  run_pod --detach --wait-ready=60 || show_output
  equal "1002
1001
1001 2000 3000
hello you \$
hidden
colour = blue
$POD front
hidden
2000 440
2000 2777" "$(pod logs -c app "$POD" | grep -v CapBnd)"
  equal 0 $((0x$(pod logs -c app "$POD" | sed -n 's/^CapBnd:\s*//p') & 1))                # CAP_CHOWN
  equal $((1 << 25)) $((0x$(pod logs -c app "$POD" | sed -n 's/^CapBnd:\s*//p') & 1 << 25)) # CAP_SYS_TIME
  equal '2000 660' "$(pod logs -c prepare "$POD")"
  equal 'Kubernetes Pod' "$(says .kind)"
  equal "store  $POD" "$(pod volumes)"
  run pod volumes remove store
  equal 1 "$status"
  pod delete --force "$POD"
  equal '' "$(pod_names)"
  equal store "$(pod volumes)"
  POD=${POD}b
  run_pod --detach
  eventually has_lines app 9
  equal 2 "$(wc -l <data/volumes/store/runs)"
  pod delete --force "$POD"
  # --volume names another directory for the claim.
  mkdir host && chmod 777 host
  run_pod --detach --volume "store=$TMP/host"
  eventually has_lines app 9
  equal "$POD front" "$(<host/runs)"
  equal 2 "$(wc -l <data/volumes/store/runs)"
}

answers_on() { [[ $(curl -s -m 2 "http://127.0.0.1:$1/") == hello ]]; }

@test "hostPort is the port of the host; an export of an OAM workload runs again and answers on its port" {
  needs_pasta
  shop 'mkdir -p /scratch/www; echo hello >/scratch/www/index.html; touch /scratch/ready; exec busybox httpd -f -p 8080 -h /scratch/www' \
    'hostPort: 18085, hostIP: 127.0.0.1'
  run_pod --detach --net pod
  eventually answers_on 18085
  equal '127.0.0.1 18085 8080' "$(pod ports --format json "$POD" | jq -r '.ports[0] | "\(.hostAddress) \(.hostPort) \(.port)"')"
  pod delete --force "$POD"
  rm app.yaml
  container web "$ANSWERS" 'ports: [{name: http, containerPort: 8080}]' 'readinessProbe: {httpGet: {path: /, port: 8080}}'
  "$OCIRUN" pod export --to kubernetes app.yaml >exported
  has 'kind: Service' "$(<exported)"
  has 'kind: Deployment' "$(<exported)"
  ocirun pod run --data "$TMP/data" --images images --net pod --grace 1 --name "$POD" --publish http=18086 --detach - <exported \
    >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  eventually answers_on 18086
  equal 'Kubernetes Deployment' "$(says .kind)"
}

@test "a Service of the type LoadBalancer opens its port, and one of the type NodePort its nodePort" {
  needs_pasta
  cat >app.yaml <<END
apiVersion: v1
kind: Service
metadata: {name: front}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, targetPort: http, nodePort: 30180}]}
---
apiVersion: v1
kind: Service
metadata: {name: balanced}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 18087, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: base, $(script "$ANSWERS"), ports: [{name: http, containerPort: 8080}]}]}
END
  run_pod --detach --net pod
  eventually answers_on 30180
  eventually answers_on 18087
  run ! answers_on 8080
}

# pod_of SPEC-LINE…: a Pod with these members beside its container, which runs $SCRIPT.
pod_of() {
  {
    printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: one}' spec: "  containers: [{name: app, image: base, $(script "$SCRIPT")$OF_CONTAINER}]"
    printf '  %s\n' "$@"
  } >app.yaml
}
OF_CONTAINER=''

@test "hostNetwork is the network of the host, unless --net says otherwise" {
  local host
  SCRIPT='readlink /proc/self/ns/net'
  pod_of 'hostNetwork: true' 'restartPolicy: Never'
  host=$(readlink /proc/self/ns/net)
  equal "$host" "$(ocirun pod run --data "$TMP/data" --images images --name "$POD" app.yaml)"
  run run_pod
  equal 0 "$status"
  [[ $(<output) != *"$host"* ]]
}

@test "terminationGracePeriodSeconds is the time between the stop signal and SIGKILL; --grace is stronger" {
  SCRIPT='trap "" TERM; while :; do sleep 0.1; done'
  pod_of 'terminationGracePeriodSeconds: 1'
  quietly ocirun pod run --data "$TMP/data" --images images --net none --name "$POD" --detach app.yaml
  equal 1 "$(jq .grace "data/pods/$POD/pod.json")"
  pod stop "$POD"
  equal 137 "$(says '.containers[0].exitCode')"
  pod delete "$POD"
  quietly ocirun pod run --data "$TMP/data" --images images --net none --name "$POD" --grace 2 --detach app.yaml
  equal 2 "$(jq .grace "data/pods/$POD/pod.json")"
}

@test "requests of ephemeral storage are compared with the free space before anything starts" {
  SCRIPT='echo never' OF_CONTAINER=', resources: {requests: {ephemeral-storage: 1Pi}}' pod_of
  run run_pod
  equal 1 "$status"
  like 'app.yaml:5:[0-9]+: /spec/containers/0/resources: ephemeral-storage: the containers request 1 PiB, and the filesystem has .* free' "$(<output)"
  equal '' "$(pod_names)"
}

@test "what one machine cannot give is refused with its line, and names the export; --ignore leaves it out" {
  cat >app.yaml <<END
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      tolerations: [{key: special}]
      containers: [{name: db, image: base, $(script 'echo done >/data/file; cat /data/file'), volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: db}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}, maxReplicas: 9}
END
  run run_pod
  equal 1 "$status"
  has 'app.yaml:5:13: /spec/replicas: 3 replicas need several machines: one machine runs 1; `ocirun pod export --to kubernetes` or `--to swarm` writes' "$(<output)"
  has 'app.yaml:17:' "$(<output)"
  has '/spec/maxReplicas: automatic scaling needs several machines' "$(<output)"
  has 'app.yaml:10:20: /spec/template/spec/tolerations: has no effect: one machine runs all pods' "$(<output)"
  run run_pod --ignore replicas --ignore HorizontalPodAutoscaler --restart never
  equal 0 "$status"
  has 'done' "$(<output)"
  equal "data-$POD-0" "$(pod volumes)"
  sed -i 's/      tolerations:.*/      hostPID: true/; s/replicas: 3/replicas: 1/' app.yaml
  run run_pod --ignore HorizontalPodAutoscaler
  equal 1 "$status"
  has 'app.yaml:10:16: /spec/template/spec/hostPID: is not supported: containers do not see the processes of the host; `ocirun pod export --to kubernetes` writes it for a cluster (--ignore hostPID' "$(<output)"
  "$OCIRUN" pod export --to kubernetes app.yaml >exported
  has 'hostPID: true' "$(<exported)"
  sed -i 's/hostPID/hostPids/' app.yaml
  run run_pod
  has 'app.yaml:10:17: /spec/template/spec/hostPids: unknown name' "$(<output)"
  equal '' "$(pod_names)"
}

@test "the pod of a StatefulSet has the ordinal of its volumes in its name and its host name" {
  cat >app.yaml <<END
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set-$$}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      initContainers:
      - {name: first, image: base, $(script 'case $(hostname) in *-[0-9]) ;; *) echo "no ordinal in $(hostname)"; exit 1 ;; esac')}
      containers:
      - {name: db, image: base, $(script 'echo "I am $(hostname), $NAME, $INDEX"; exec sleep 60'),
         env: [{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
               {name: INDEX, valueFrom: {fieldRef: {fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}}],
         volumeMounts: [{name: data, mountPath: /data}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]
END
  quietly pod run --detach --images images --net none app.yaml
  says_name() { has "I am set-$$-0, set-$$-0, 0" "$(pod logs "set-$$-0" -c db)"; }
  eventually says_name
  equal "data-set-$$-0" "$(pod volumes | cut -d " " -f 1)"
  equal "set-$$-0.db" "$(pod status "set-$$-0" --format json | jq -r '.containers[1].id')"
  pod delete --force "set-$$-0"
  quietly pod run --detach --name "set-$$-0" --images images --net none app.yaml
  equal "data-set-$$-0" "$(pod volumes | cut -d " " -f 1)"
  pod delete --force "set-$$-0"
  sed -i '/initContainers/,+1d' app.yaml
  # An older ocirun has run the pod under the name of the set: it goes on under this name, and nothing starts beside it.
  quietly pod run --detach --keep --name "set-$$" --images images --net none app.yaml
  equal "data-set-$$-0" "$(pod volumes | cut -d " " -f 1)"
  run pod run --detach --images images --net none app.yaml
  equal 1 "$status"
  has "the pod \"set-$$\" runs this StatefulSet already, under the name of the set" "$output"
  pod stop --grace 1 "set-$$"
  jq '.words -= ["--name", "set-'$$'", "--name=set-'$$'"]' "$TMP/data/pods/set-$$/run.json" >run.json
  cp run.json "$TMP/data/pods/set-$$/run.json"
  quietly pod start "set-$$"
  equal "set-$$" "$(<output)"
  equal "set-$$" "$(pod_names)"
}

@test "an export of a document of Kubernetes keeps what only a cluster honours" {
  shop 'echo'
  cat >>app.yaml <<'END'
  nodeSelector: {disk: ssd}
END
  run --separate-stderr "$OCIRUN" pod export --to kubernetes app.yaml
  equal 0 "$status"
  equal '' "$stderr"
  has 'nodeSelector:
    disk: ssd' "$output"
  has '# Needs the Secret "db"' "$output"
  [[ $output != *hidden* ]]
  has 'fieldPath: metadata.name' "$output"
  printf '%s\n' "$output" >once
  "$OCIRUN" pod export --to kubernetes once | cmp once
}
