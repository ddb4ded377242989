# Knative documents as people have them for clusters, with config maps and secrets beside them, as pods.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# knative CONTAINERS [YAML-LINE…]: a Knative service with these containers, as YAML; the lines belong to the spec of the revision.
knative() {
  {
    printf '%s\n' 'apiVersion: serving.knative.dev/v1' 'kind: Service' 'metadata: {name: hello}' 'spec: {template: {' \
      "  metadata: {annotations: {run.googleapis.com/container-dependencies: '${ORDER:-{\}}'}}," "  spec: {containers: [$1]"
    printf '    ,%s\n' "${@:2}"
    echo '  }}}'
  } >app.yaml
}

# once SCRIPT [YAML]: a container that runs a script, answers on its port, and stays.
once() { echo "{name: app, image: base, command: [/bin/sh, -c], args: [$(jq -Rs . <<<"$1; $ANSWERS")]${2:+, $2}}"; }
ANSWERS='while :; do nc -l -p 8080 >/dev/null; done'

# config: documents of the kinds ConfigMap and Secret behind the workload.
config() {
  cat >>app.yaml <<'END'
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {app.ini: "colour = blue\n", LEVEL: debug}
binaryData: {raw: AAE=}
---
apiVersion: v1
kind: Secret
metadata: {name: db}
data: {password: cHc=}
stringData: {user: me}
END
}

# prints FILE: what a container shows of its files.
SHOWS='cd /v && find . -type f | sort | xargs stat -c "%a %u %n" && stat -f -c %T . && touch x 2>&1 | grep -o "Read-only.*"'

@test "ConfigMap and Secret documents beside the workload are variables and files" {
  knative "$(once "$SHOWS"'; cat app.ini; wc -c <raw; echo "$PW $C_LEVEL $C_raw."' 'volumeMounts: [{name: v, mountPath: /v}],
    env: [{name: PW, valueFrom: {secretKeyRef: {name: db, key: password}}}], envFrom: [{prefix: C_, configMapRef: {name: conf}}]')" \
    'volumes: [{name: v, configMap: {name: conf}}]'
  config
  run_pod --detach
  equal "644 0 ./LEVEL
644 0 ./app.ini
644 0 ./raw
tmpfs
Read-only file system
colour = blue
2
pw debug ." "$(pod logs "$POD")"
  pod delete --force "$POD"
  equal "" "$(pod_names)"
}

@test "a key that is absent is an error; --secret is stronger than a document; optional ones may be absent" {
  local env='env: [{name: PW, valueFrom: {secretKeyRef: {name: db, key: pass}}},
    {name: NONE, valueFrom: {configMapKeyRef: {name: conf, key: none, optional: true}}}], envFrom: [{secretRef: {name: none, optional: true}}],
    volumeMounts: [{name: v, mountPath: /v}]'
  knative "$(once 'echo "$PW ${NONE-unset}"; ls -A /v' "$env")" 'volumes: [{name: v, secret: {secretName: none, optional: true}}]'
  config
  run run_pod
  equal 1 "$status"
  has 'the secret "db" in this file has no key "pass": write it there, or --secret db=DIR' "$(<output)"
  mkdir given && printf given >given/pass
  run_pod --detach --secret "db=$TMP/given"
  equal "given unset" "$(pod logs "$POD")"
  pod delete --force "$POD"
  sed -i '/^---/,$d' app.yaml
  run run_pod
  equal 1 "$status"
  has 'the secret "db": a document of the kind Secret in the file, or --secret db=DIR' "$(<output)"
}

@test "items and defaultMode of a secret, of a document and of --secret" {
  knative "$(once "$SHOWS" 'volumeMounts: [{name: v, mountPath: /v}]')" \
    'volumes: [{name: v, secret: {secretName: db, defaultMode: 0400, items: [{key: user, path: a/b/who}, {key: password, path: pw, mode: 0440}]}}]'
  config
  run_pod --detach
  equal $'400 0 ./a/b/who\n440 0 ./pw\ntmpfs\nRead-only file system' "$(pod logs "$POD")"
  pod delete --force "$POD"
  mkdir given && printf x >given/user
  run run_pod --secret "db=$TMP/given"
  equal 1 "$status"
  has 'volume "v": there is no key "password" for the file "pw"' "$(<output)"
  equal "" "$(pod_names)"
  printf y >given/password
  run_pod --detach --secret "db=$TMP/given"
  equal $'400 0 ./a/b/who\n440 0 ./pw' "$(pod logs "$POD" | head -2)"
  pod delete --force "$POD"
  run pod plan --images images -o out app.yaml # the bundle has the files
  succeeds
  equal "400 440" "$(stat -c %a out/volumes/0/a/b/who out/volumes/0/pw | xargs)"
}

@test "subPath: a file that an init container makes, a directory that is made, nothing outside of the volume" {
  mkdir -p secret && echo bad >secret/file
  local init='{name: init, image: base, command: [/bin/sh, -c], args: ["echo made >/v/file; ln -s '"$TMP"'/secret /v/link"],
    volumeMounts: [{name: v, mountPath: /v}]}'
  knative "$(once 'cat /file 2>&1; stat -c "%a %F" /data/new; ls -A /link
    if [ ! -e /all/second ]; then rm /all/file; ln -s '"$TMP"'/secret/file /all/file; touch /all/second; exit 1; fi' 'volumeMounts: [{name: v, mountPath: /all},
    {name: v, mountPath: /file, subPath: file}, {name: v, mountPath: /data/new, subPath: a/new}, {name: v, mountPath: /link, subPath: link}]')" \
    'volumes: [{name: v, emptyDir: {}}]' "initContainers: [$init]"
  run_pod --detach
  equal "made
777 directory
cat: read error: Is a directory
777 directory
file" "$(pod logs -c app "$POD")" # the links lead to places inside the volume, where a directory "file" was made
  pod delete --force "$POD"
  equal bad "$(<secret/file)"
}

@test "a subPath of a read-only volume that is not there is an error" {
  knative "$(once true 'volumeMounts: [{name: v, mountPath: /f, subPath: app.in}]')" 'volumes: [{name: v, configMap: {name: conf}}]'
  config
  run run_pod
  equal 1 "$status"
  has 'volume "v": subPath app.in: there is no "app.in", and the volume is read-only' "$(<output)"
  sed -i 's/subPath: app.in}/subPath: app.ini}/; s/"true/"cat \/f; true/' app.yaml
  run_pod --detach
  equal "colour = blue" "$(pod logs "$POD")"
  pod delete --force "$POD"
}

@test "references to variables in command, args and env are expanded as Kubernetes does" {
  knative "{name: app, image: base, command: [/bin/sh, -c, '\$(SCRIPT)', \$(NAME)], args: ['\$(URL)', \$(PORT), \$\$(NAME), \$(UNKNOWN)],
    env: [{name: NAME, value: me}, {name: URL, value: http://\$(NAME):\$(PW)/\$(LATER)}, {name: LATER, value: l},
          {name: SCRIPT, value: 'echo \"\$0 \$*\"; $ANSWERS'}, {name: PW, value: x}]}"
  run_pod --detach
  equal 'me http://me:$(PW)/$(LATER) 8080 $(NAME) $(UNKNOWN)' "$(pod logs "$POD")"
  pod delete --force "$POD"
}

@test "containers start in the order of run.googleapis.com/container-dependencies, behind startup probes" {
  mkdir work
  knative '{name: app, image: base, command: [/bin/sh, -c], args: ["cat /w/log; '"$ANSWERS"'"], ports: [{containerPort: 8080}],
      volumeMounts: [{name: w, mountPath: /w}]},
    {name: base, image: base, command: [/bin/sh, -c], args: ["sleep 1; echo base >>/w/log; touch /up; sleep 1000"],
      env: [{name: PORT, value: "1"}], startupProbe: {exec: {command: [test, -e, /up]}, periodSeconds: 1}, volumeMounts: [{name: w, mountPath: /w}]},
    {name: middle, image: base, command: [/bin/sh, -c], args: ["cat /w/log >/w/seen; echo middle >>/w/log; touch /up; sleep 1000"],
      startupProbe: {exec: {command: [test, -e, /up]}, periodSeconds: 1}, volumeMounts: [{name: w, mountPath: /w}]}' 'volumes: [{name: w, emptyDir: {}}]'
  ORDER='{"app": ["middle", "base"], "middle": ["base"]}'
  sed -i "s/container-dependencies: '.*'}}/container-dependencies: '$ORDER'}}/" app.yaml
  run_pod --detach
  equal $'base\nmiddle' "$(pod logs -c app "$POD")"
  equal "base middle app" "$(pod events "$POD" | jq -r 'select(.event == "started") | .container' | xargs)"
  equal "base" "$(pod exec -c app "$POD" cat /w/seen)"
  equal "1" "$(pod exec -c base "$POD" sh -c 'echo $PORT')"
  pod delete --force "$POD"
}

@test "seccompProfile: RuntimeDefault, and Localhost below the directory of --seccomp-profiles" {
  mkdir profiles
  echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 95}]}' \
    >profiles/no-mkdir.json
  local script='grep Seccomp: /proc/self/status | tr -d "\\t"; mkdir /tmp/x 2>&1'
  knative "$(once "$script" 'securityContext: {seccompProfile: {type: Localhost, localhostProfile: no-mkdir.json}}')"
  run_pod --detach --seccomp-profiles profiles --seccomp unconfined
  equal $'Seccomp:2\nmkdir: can'"'t create directory '/tmp/x': Operation not supported" "$(pod logs "$POD")"
  pod delete --force "$POD"
  run run_pod --seccomp-profiles images
  equal 1 "$status"
  has "/images/no-mkdir.json (--seccomp-profiles DIR): " "$(<output)"
  sed -i 's/type: Localhost, localhostProfile: no-mkdir.json/type: RuntimeDefault/' app.yaml
  run_pod --detach --seccomp unconfined
  equal Seccomp:2 "$(pod logs "$POD")"
  pod delete --force "$POD"
}

@test "a name that is known and not supported is an error, and with --ignore a warning" {
  knative "$(once 'echo runs' 'lifecycle: {preStop: {exec: {command: [a]}}}')" 'nodeSelector: {a: b}' 'containerConcurrency: 5'
  run run_pod
  equal 1 "$status"
  has '/spec/nodeSelector: is not supported: one machine runs all pods (--ignore nodeSelector leaves it out)' "$(<output)"
  run run_pod --ignore nodeSelector,lifecycle,tty
  equal 1 "$status"
  has '--ignore tty: nothing of this name is refused' "$(<output)"
  run_pod --detach --ignore nodeSelector,lifecycle
  equal runs "$(pod logs "$POD")"
  pod delete --force "$POD"
  run "$OCIRUN" pod validate --ignore nodeSelector --ignore lifecycle app.yaml
  succeeds
  output_mentions '/lifecycle: is left out, because of --ignore lifecycle: containers have no hooks'
  output_mentions '/containerConcurrency: has no effect: no proxy stands between a request and the container'
}
