# What each attribute of a workload document does: a pod of each kind carries all of them with odd values, and its programs print what
# they see. A table says of each attribute of the full documents in tests/pods/documents/full.hpp where its effect is seen; an attribute
# that the table does not have fails the test.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

setup() {
  common_setup
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  mkdir "$BUNDLE/rootfs/odd dir"
  printf 'wheel:x:10:\nmore:x:11:web\n' >>"$BUNDLE/rootfs/etc/group"
  write_look >"$BUNDLE/rootfs/bin/look"
  chmod 0755 "$BUNDLE/rootfs/bin/look"
  make_image images base '{"Entrypoint": ["/bin/look"], "Cmd": ["from the image"]}' "$BUNDLE/rootfs"
  POD=$ID
}

# write_look: a program that prints what it sees, of cgroups the same lines on v1 and v2: `look WORD…`.
write_look() {
  cat <<'END'
#!/bin/sh
first() { for file; do [ ! -e "$file" ] || { cat "$file"; return; }; done; echo none; }
for word; do echo "argument $word"; done
echo "directory $(pwd)"
env | sed 's/^/variable /'
sed -n 's/^\(Uid\|Gid\|Groups\|NoNewPrivs\|CapBnd\|CapEff\):[[:space:]]*/\1 /p' /proc/self/status | tr '\t' ' ' | sed 's/ *$//'
while read -r _ _ _ _ at options _; do echo "mount $at $options"; done </proc/self/mountinfo
echo "oom $(cat /proc/self/oom_score_adj)"
cd /sys/fs/cgroup
echo "memory-limit $(first memory/memory.limit_in_bytes memory.max)"
echo "memory-request $(first memory/memory.soft_limit_in_bytes memory.low)"
echo "cpu-limit $(first cpu/cpu.cfs_quota_us cpu,cpuacct/cpu.cfs_quota_us cpu.max)"
echo "cpu-shares $(first cpu/cpu.shares cpu,cpuacct/cpu.shares cpu.weight)"
cd /
stat -c 'file %n %a %u %g' /v/* 2>/dev/null
stat -f -c 'filesystem %n %T %b %S' /v/* 2>/dev/null
mkdir /v/new/below 2>&1
echo done
END
}

# effects KIND: compares what the pod did with the rows of lib/effects/KIND, POINTER | WHERE | WHAT:
#   inside   a line of $TMP/inside, what the programs have printed, matches the regular expression WHAT
#   outside  the same of $TMP/outside, what status, state and events say
#   warned   the same of $TMP/output, the warnings of `pod run`
#   refused  FILTER => WORDS: `pod validate` of the document that jq changed by FILTER fails with these words
#   told     the same, but a warning or a need
#   tested   another test, whose name has these words, shows the effect
# Several rows of one attribute are allowed. Each attribute of the full document must have a row.
effects() {
  set +T # bats' DEBUG trap makes loops slow
  local pointer where what failed=0
  local -A has_row
  while IFS='|' read -r pointer where what; do
    pointer=${pointer%"${pointer##*[! ]}"} where=${where// /} what=${what# }
    [[ -n $pointer ]] || continue
    has_row[$pointer]=1
    has_effect "$where" "$what" || { echo "$pointer has no effect $where: $what"; failed=1; }
  done <"$LIB/effects/$1"
  while read -r pointer; do
    [[ -n ${has_row[$pointer]:-} ]] || { echo "$pointer: no row says what it does"; failed=1; }
  done < <("$LIB/attributes" "$1")
  ((failed == 0)) || head -n 400 inside outside output
  return "$failed"
}

has_effect() { # WHERE WHAT
  case $1 in
    inside | outside) grep -qE -e "$2" "$1" ;;
    warned) grep -E '^ocirun: warning: ' output | grep -qE -e "$2" ;;
    refused | told)
      jq "${2%% => *}" app.yaml >odd.json || return
      local rc=0
      ocirun pod validate odd.json >odd 2>&1 || rc=$?
      if [[ $1$rc == refused1 || $1 == told ]] && grep -qF -e "${2#* => }" odd; then return; fi
      cat odd
      return 1
      ;;
    tested) grep -rhE '^@test|_TEST(_CASE)?\(' "$REPO"/integration/*.bats "$REPO/tests/pods" | grep -qF -e "$2" ;;
    *) return 1 ;;
  esac
}

# collect CONTAINER…: waits until these have printed all, and writes $TMP/inside and $TMP/outside.
collect() {
  local container
  for container in "$@"; do
    eventually has_printed_all "$container"
    pod logs -c "$container" "$POD" | sed "s/^/$container: /"
  done >inside
  {
    pod status --format json "$POD" | jq -c '{kind, name}, .containers[]'
    for container in "$@"; do ocirun state "$POD.$container" | jq -c .annotations; done
    pod events "$POD"
  } >outside
}
has_printed_all() { pod logs -c "$1" "$POD" | grep -xE 'done|last' >/dev/null; }

@test "AC-1 AC-23 App Container: every attribute of a manifest has an effect, a warning or an error" {
  needs_controller cpu
  needs_controller memory
  local id
  id=sha512-$(printf '%0128d' 0)
  mkdir -p host/below sealed
  mount -t tmpfs none host/below
  touch host/below/hidden
  cat >app.yaml <<END
{"acVersion": "0.8.11", "acKind": "PodManifest",
 "apps": [
  {"name": "worker",
   "image": {"name": "example.com/odd", "id": "$id", "labels": [{"name": "os", "value": "linux"}]},
   "app": {
     "exec": ["/bin/sh", "-c", "ls -A /v/point; look \"\$@\"; mkdir /v/own/x; touch /v/point/x /v/sealed/x /v/own/kept; echo last; exec sleep 1000", "sh", "an odd word"],
     "user": "1000", "group": "wheel", "supplementaryGIDs": [7, 77], "workingDirectory": "/odd dir",
     "environment": [{"name": "ODD", "value": "b = c"}],
     "mountPoints": [{"name": "point", "path": "/v/point", "readOnly": true}],
     "ports": [{"name": "ftp", "port": 2121, "protocol": "tcp", "count": 1, "socketActivated": false}],
     "eventHandlers": [],
     "isolators": [
       {"name": "resource/memory", "value": {"request": "40Mi", "limit": "96Mi"}},
       {"name": "resource/cpu", "value": {"limit": "370m"}},
       {"name": "os/linux/capabilities-retain-set", "value": {"set": ["CAP_CHOWN"]}},
       {"name": "os/linux/seccomp-remove-set", "value": {"set": ["mkdir", "mkdirat"], "errno": "EXDEV"}},
       {"name": "os/linux/no-new-privileges", "value": true},
       {"name": "os/linux/oom-score-adj", "value": 321},
       {"name": "os/linux/cpu-shares", "value": 517}],
     "userAnnotations": {"any thing": "x"}, "userLabels": {"l": "y"}},
   "readOnlyRootFS": true,
   "mounts": [{"volume": "data", "path": "/v/point"}, {"volume": "sealed", "path": "/v/sealed"}, {"volume": "tmp", "path": "/v/tmp"},
              {"volume": "own", "path": "/v/own", "appVolume": {"name": "own", "kind": "empty", "mode": "1777"}}],
   "annotations": [{"name": "foo", "value": "baz"}]}],
 "volumes": [{"name": "data", "kind": "host", "source": "$TMP/host", "recursive": false},
             {"name": "sealed", "kind": "host", "source": "$TMP/sealed", "readOnly": true},
             {"name": "tmp", "kind": "empty", "mode": "0701", "uid": 11, "gid": 12}],
 "isolators": [{"name": "resource/memory", "value": {"limit": "4G"}}, {"name": "resource/cpu", "value": {"limit": 2}}],
 "annotations": [{"name": "owner", "value": "me"}],
 "ports": [{"name": "ftp", "hostPort": 2122, "hostIP": "127.0.0.1", "podPort": {"name": "ftp", "port": 2121, "protocol": "tcp"}}],
 "userAnnotations": {"any thing": "x"}, "userLabels": {"l": "y"}}
END
  run_pod --detach --image example.com/odd=images:base || show_output
  eventually has_line worker last # it goes on after the line of `look`
  collect worker
  umount host/below
  effects appc
}

@test "P-9 P-16 an App Container's profile and label are those of the program, or an error names them" {
  local field name
  for name in apparmor-profile selinux-context; do
    cat >app.yaml <<END
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [{"name": "one", "image": {"id": "sha512-..."},
  "app": {"exec": ["/bin/true"], "user": "0", "group": "0", "isolators": [{"name": "os/linux/$name", "value":
    {"profile": "ocirun-absent", "user": "u_absent", "role": "r", "type": "t", "level": "s0"}}]}}]}
END
    [[ $name == selinux* ]] || sed -i 's/, "user": "u_absent".*"s0"//' app.yaml
    [[ $name == apparmor* ]] || sed -i 's/"profile": "ocirun-absent", //' app.yaml
    field=apparmorProfile && [[ $name == apparmor* ]] || field=selinuxLabel
    run run_pod --image one=images:base
    equal 1 "$status"
    has "/process/$field" "$(<output)"
  done
}

@test "OAM-1 OAM-38 OAM: every attribute of a workload has an effect, a warning or an error" {
  needs_controller cpu
  needs_controller memory
  local machine
  machine=$(jq -r '.manifests[0].digest | sub("sha256:"; "images/blobs/sha256/")' images/index.json)
  machine=$(jq -r .architecture "images/blobs/sha256/$(jq -r '.config.digest | sub("sha256:"; "")' "$machine")")
  mkdir host && touch host/file
  cat >app.yaml <<END
{"apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload",
 "metadata": {"name": "shop", "labels": {"tier": "odd"}, "annotations": {"owner": "me"}},
 "spec": {"osType": "linux", "arch": "$machine", "containers": [
   {"name": "Web.1_a-b", "image": "base",
    "resources": {"cpu": {"required": 0.25}, "memory": {"required": "48M"}, "gpu": {"required": 0},
      "volumes": [{"name": "data", "mountPath": "/v/data", "accessMode": "RO", "sharingPolicy": "Shared", "disk": {"required": "1K"}},
                  {"name": "own", "mountPath": "/v/own", "disk": {"required": "1K", "ephemeral": true}}],
      "extended": [{"name": "ext.example.com/v1.MotionSensor", "required": "1"}]},
    "cmd": ["/bin/sh", "-c", "cat /etc/odd /etc/given; echo; strings /proc/\$\$/environ; ls /v/data; look \"\$@\"; until [ -e /probed ]; do sleep 0.1; done; echo was probed; while :; do printf 'HTTP/1.1 200 OK\\r\\n\\r\\n' | nc -l -p 8099; done", "sh"], "args": ["an odd word"],
    "env": [{"name": "ODD_b-1", "value": "x = y"}, {"name": "EMPTY"}],
    "config": [{"path": "/etc/odd", "value": "odd content\n"}, {"path": "etc/given", "value": "no", "fromParam": "p"}],
    "ports": [{"name": "http", "containerPort": 8099, "protocol": "TCP"}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}],
    "livenessProbe": {"exec": {"command": ["/bin/touch", "/probed"]}, "initialDelaySeconds": 0, "periodSeconds": 1, "timeoutSeconds": 30,
                      "successThreshold": 1, "failureThreshold": 50},
    "readinessProbe": {"httpGet": {"path": "/odd/ready", "port": 8099, "httpHeaders": [{"name": "X-Odd", "value": "b c"}]},
                       "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 50},
    "imagePullSecret": "key"},
   {"name": "side", "image": "base", "resources": {"cpu": {"required": 0.1}, "memory": {"required": "8M"},
      "volumes": [{"name": "data", "mountPath": "/v/data", "sharingPolicy": "Shared", "disk": {"required": "1K"}}]},
    "cmd": ["/bin/sh", "-c", "nc -l -p 8098 </dev/null; echo was asked; touch /v/data/new; ls /v/data; echo done; exec sleep 1000"],
    "livenessProbe": {"tcpSocket": {"port": 8098}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500}}]}}
END
  run_pod --detach --volume "data=$TMP/host" --param 'p=a parameter' --extended ext.example.com/v1.MotionSensor=1 || show_output
  reaches '.containers[0].ready' true
  collect Web.1_a-b side
  effects oam
}

@test "RX-1 RX-18 Radius: every attribute of a resource has an effect, a warning or an error" {
  needs_controller cpu
  needs_controller memory
  mkdir host secret && touch host/file && echo -n 'hidden word' >secret/password
  cat >app.yaml <<'END'
{"id": "/planes/x", "name": "shop", "type": "Radius.Compute/containers@2025-08-01-preview",
 "location": "global", "apiVersion": "2025-08-01-preview", "tags": {"owner": "me"},
 "properties": {
   "environment": "env", "application": "app", "replicas": 1,
   "containers": {
     "web": {"image": "base", "command": ["/bin/sh", "-c"], "workingDir": "/odd dir",
       "args": ["ls /v/data /v/tmp; cat /v/keys/password; echo; look \"$@\"; nc -l -p 8080 </dev/null | head -c 1 | od -An -tx1 | sed 's/^/was asked /'; while :; do nc -l -p 8081 </dev/null; done", "sh", "an odd word"],
       "env": {"ODD": {"value": "x = y"}, "SECRET": {"valueFrom": {"secretKeyRef": {"secretId": "/secrets/db", "key": "password"}}}},
       "ports": {"http": {"containerPort": 8080, "protocol": "TCP", "port": 80}},
       "volumeMounts": {"a": {"mountPath": "/v/data", "volumeName": "data"}, "b": {"mountPath": "/v/keys", "volumeName": "keys"},
                        "c": {"mountPath": "/v/tmp", "volumeName": "tmp"}},
       "resources": {"requests": {"cpu": 0.25, "memoryInMib": 40}, "limits": {"cpu": 0.37, "memoryInMiB": 96}},
       "livenessProbe": {"httpGet": {"path": "/", "port": "http", "scheme": "HTTPS"}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500},
       "readinessProbe": {"tcpSocket": {"port": 8081}, "periodSeconds": 1, "timeoutSeconds": 30}},
     "side": {"image": "base", "command": ["/bin/sh", "-c", "while :; do printf 'HTTP/1.1 200 OK\r\n\r\n' | nc -l -p 8082; echo done; done"],
       "readinessProbe": {"httpGet": {"path": "/odd/path", "port": 8082}, "periodSeconds": 1, "timeoutSeconds": 30}}},
   "initContainers": {"second": {"image": "base", "command": ["/bin/sh", "-c", "ls /v; echo second >/v/second"],
                                 "volumeMounts": {"c": {"mountPath": "/v", "volumeName": "tmp"}}}},
   "volumes": {"data": {"persistentVolumeId": "/volumes/data"}, "keys": {"secretId": "/secrets/db"}, "tmp": {"emptyDir": {}}},
   "extensions": {"manualScaling": {"replicas": 1}},
   "connections": {"cache": {"source": "/redis/cache", "disableDefaultEnvVars": false}}}}
END
  run_pod --detach --volume "data=$TMP/host" --secret "/secrets/db=$TMP/secret" --param cache.host=odd-host || show_output
  reaches '.containers[] | select(.name == "web") | .ready' true
  reaches '.containers[] | select(.name == "side") | .ready' true
  collect web side
  effects radius
}

@test "RX-1 RX-18 Radius: every attribute of the first edition of the resource has an effect, a warning or an error" {
  mkdir host secret && touch host/file && echo -n 'hidden word' >secret/password
  cat >app.yaml <<'END'
{"id": "/planes/x", "name": "shop", "type": "Applications.Core/containers@2023-10-01-preview",
 "location": "global", "apiVersion": "2023-10-01-preview", "systemData": {"createdBy": "me"}, "tags": {"owner": "me"},
 "properties": {
   "environment": "env", "application": "app", "restartPolicy": "Always",
   "container": {"image": "base", "imagePullPolicy": "Never", "command": ["/bin/sh", "-c"], "workingDir": "/odd dir",
     "args": ["[ -e /v/tmp/again ] || { touch /v/tmp/again; exit 3; }; ls /v/data; look \"$@\"; touch /v/data/new 2>&1; until [ -e /v/tmp/asked ]; do sleep 0.05; done; echo was asked; while :; do printf 'HTTP/1.1 200 OK\r\n\r\n' | nc -l -p 8080; done", "sh", "an odd word"],
     "env": {"ODD": {"value": "x = y"}, "SECRET": {"valueFrom": {"secretRef": {"source": "/secrets/db", "key": "password"}}}},
     "ports": {"http": {"containerPort": 8080, "protocol": "TCP", "scheme": "http", "port": 80}},
     "livenessProbe": {"kind": "httpGet", "containerPort": 8080, "path": "/odd/live", "headers": {"X-Odd": "an odd value"},
                       "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500},
     "readinessProbe": {"kind": "exec", "command": "touch /v/tmp/asked", "periodSeconds": 1, "timeoutSeconds": 30},
     "volumes": {"tmp": {"kind": "ephemeral", "mountPath": "/v/tmp", "managedStore": "memory"},
                 "data": {"kind": "persistent", "mountPath": "/v/data", "source": "/volumes/data", "permission": "read"}}},
   "connections": {"cache": {"source": "/redis/cache", "disableDefaultEnvVars": false, "kind": "odd"},
                   "back": {"source": "http://odd-backend:3000/api"}},
   "extensions": [{"kind": "manualScaling", "replicas": 1},
                  {"kind": "kubernetesMetadata", "labels": {"team": "odd team"}, "annotations": {"note": "an odd note"}}],
   "resourceProvisioning": "internal", "resources": [{"id": "/x"}], "runtimes": {"aci": {"gatewayID": "/x"}},
   "provisioningState": "Succeeded", "status": {"compute": {}}}}
END
  run_pod --detach --volume "data=$TMP/host" --secret "/secrets/db=$TMP/secret" --param cache.host=odd-host || show_output
  reaches '.containers[0].ready' true
  eventually has_line shop 'X-Odd: an odd value'
  collect shop
  effects radius_core
}

@test "KN-1 KN-24 Knative: every attribute of a service has an effect, a warning or an error" {
  needs_controller cpu
  needs_controller memory
  mkdir host secret map profiles && touch host/file && echo -n 'hidden word' >secret/key && echo -n 'a setting' >map/key
  echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["chmod", "fchmodat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 18}]}' >profiles/odd.json
  cat >app.yaml <<'END'
{"apiVersion": "serving.knative.dev/v1", "kind": "Service",
 "metadata": {"name": "hello", "namespace": "default", "labels": {"label": "odd"}, "annotations": {"a": "odd 2"}},
 "spec": {"template": {
   "metadata": {"name": "hello-odd", "annotations": {"autoscaling.knative.dev/min-scale": "1"}},
   "spec": {
     "containers": [{
       "name": "serving", "image": "base", "command": ["/bin/sh", "-c"], "workingDir": "/odd dir",
       "args": ["cat /v/keys/key /v/conf/key; echo; ls /v/data; look \"$@\"; touch /v/data/new; cat /etc/passwd; echo; ls -ln /v/part /v/part/d | tr -s ' ' | cut -d ' ' -f 1,9; ls -A /v/absent | wc -l; chmod 1 /v/tmp; while :; do printf 'HTTP/1.1 200 OK\r\n\r\n' | nc -l -p $PORT; done", "sh", "an odd word"],
       "env": [{"name": "ODD", "value": "x = y"},
               {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}},
               {"name": "ABSENT", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none", "optional": true}}},
               {"name": "SETTING", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "key"}}}],
       "envFrom": [{"prefix": "S_", "secretRef": {"name": "s"}}, {"secretRef": {"name": "none", "optional": true}}, {"prefix": "M_", "configMapRef": {"name": "m"}}],
       "ports": [{"name": "http1", "containerPort": 9000, "protocol": "TCP"}],
       "livenessProbe": {"httpGet": {"path": "/odd/live"}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500},
       "readinessProbe": {"tcpSocket": {"port": 9000}, "periodSeconds": 1, "timeoutSeconds": 30},
       "startupProbe": {"httpGet": {"path": "/odd/start", "port": "http1"}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500},
       "resources": {"requests": {"cpu": "250m", "memory": "40Mi"}, "limits": {"cpu": "370m", "memory": "96Mi"}},
       "volumeMounts": [{"name": "keys", "mountPath": "/v/keys", "readOnly": true}, {"name": "part", "mountPath": "/etc/passwd", "subPath": "d/f"},
                        {"name": "part", "mountPath": "/v/part"}, {"name": "absent", "mountPath": "/v/absent"}, {"name": "conf", "mountPath": "/v/conf"},
                        {"name": "tmp", "mountPath": "/v/tmp"}, {"name": "data", "mountPath": "/v/data"}, {"name": "tmp", "mountPath": "/v/sealed", "readOnly": true}],
       "securityContext": {"runAsUser": 1000, "runAsGroup": 1001, "runAsNonRoot": true, "readOnlyRootFilesystem": true,
                           "allowPrivilegeEscalation": false,
                           "seccompProfile": {"type": "Localhost", "localhostProfile": "odd.json"}, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
       "imagePullPolicy": "Always", "terminationMessagePath": "/x", "terminationMessagePolicy": "File"}],
     "initContainers": [{"name": "prepare", "image": "base", "command": ["/bin/sh", "-c", "echo prepared"]}],
     "volumes": [{"name": "keys", "secret": {"secretName": "s"}},
                 {"name": "part", "secret": {"secretName": "s", "defaultMode": 292, "items": [{"key": "key", "path": "d/f", "mode": 260}, {"key": "key", "path": "g"}]}},
                 {"name": "absent", "secret": {"secretName": "none", "optional": true}}, {"name": "conf", "configMap": {"name": "m"}},
                 {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
                 {"name": "data", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}}],
     "imagePullSecrets": [{"name": "pull"}], "containerConcurrency": 0, "timeoutSeconds": 300,
     "responseStartTimeoutSeconds": 10, "idleTimeoutSeconds": 10, "serviceAccountName": "default",
     "automountServiceAccountToken": false, "enableServiceLinks": false}},
   "traffic": [{"percent": 100, "latestRevision": true}]}}
END
  run_pod --detach --volume "c=$TMP/host" --secret "s=$TMP/secret" --secret "configmap/m=$TMP/map" --seccomp-profiles "$TMP/profiles" || show_output
  eventually has_line serving 'GET /odd/live HTTP/1.1'
  pod logs -c prepare "$POD" >prepared
  collect serving
  sed 's/^/prepare: /' prepared >>inside
  effects knative
}

@test "Kubernetes: every attribute of a Deployment has an effect, a warning or an error" {
  needs_controller cpu
  needs_controller memory
  mkdir host shared secret map profiles && touch host/file && echo -n 'hidden word' >secret/key && echo -n 'a setting' >map/key
  echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["chmod", "fchmodat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 18}]}' >profiles/odd.json
  cat >app.yaml <<END
{"apiVersion": "apps/v1", "kind": "Deployment",
 "metadata": {"name": "hello", "namespace": "odd-space", "labels": {"label": "odd"}, "annotations": {"a": "odd 2"}},
 "spec": {
   "replicas": 1, "minReadySeconds": 1, "revisionHistoryLimit": 2, "progressDeadlineSeconds": 3, "strategy": {"type": "RollingUpdate"},
   "selector": {"matchLabels": {"app": "odd-app"}},
   "template": {
     "metadata": {"labels": {"app": "odd-app"}, "annotations": {"b": "odd 3"}},
     "spec": {
       "containers": [{
         "name": "serving", "image": "base", "command": ["/bin/sh", "-c"], "workingDir": "/odd dir",
         "args": ["cat /v/keys/key /v/conf/key; echo; echo pid \$\$\$\$; ls /v/data /v/host; look \"\$@\"; touch /v/data/new; ls -ln /v/part /v/part/d | tr -s ' ' | cut -d ' ' -f 1,9; ls -A /v/absent | wc -l; chmod 1 /v/tmp; while :; do printf 'HTTP/1.1 200 OK\\r\\n\\r\\n' | nc -l -p 9000; done", "sh", "an \$(ODD) word"],
         "env": [{"name": "ODD", "value": "x = y"},
                 {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}},
                 {"name": "ABSENT", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none", "optional": true}}},
                 {"name": "SETTING", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "key"}}},
                 {"name": "SPACE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}},
                 {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                 {"name": "ACCOUNT", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}},
                 {"name": "NOTE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['b']"}}},
                 {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}}],
         "envFrom": [{"prefix": "S_", "secretRef": {"name": "s"}}, {"secretRef": {"name": "none", "optional": true}}, {"prefix": "M_", "configMapRef": {"name": "m"}}],
         "ports": [{"name": "http1", "containerPort": 9000, "protocol": "TCP"}],
         "livenessProbe": {"httpGet": {"path": "/odd/live", "port": "http1", "httpHeaders": [{"name": "X-Odd", "value": "odd header"}]},
                           "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500, "initialDelaySeconds": 1, "successThreshold": 1},
         "readinessProbe": {"tcpSocket": {"port": 9000}, "periodSeconds": 1, "timeoutSeconds": 30, "successThreshold": 2},
         "startupProbe": {"exec": {"command": ["/bin/sh", "-c", "[ -d /v/tmp ]"]}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 500},
         "resources": {"requests": {"cpu": "250m", "memory": "40Mi", "ephemeral-storage": "1Ki"}, "limits": {"cpu": "370m", "memory": "96Mi"}},
         "volumeMounts": [{"name": "keys", "mountPath": "/v/keys", "readOnly": true}, {"name": "part", "mountPath": "/etc/passwd", "subPath": "d/f"},
                          {"name": "part", "mountPath": "/v/part"}, {"name": "absent", "mountPath": "/v/absent"}, {"name": "conf", "mountPath": "/v/conf"},
                          {"name": "tmp", "mountPath": "/v/tmp"}, {"name": "data", "mountPath": "/v/data"}, {"name": "tmp", "mountPath": "/v/sealed", "readOnly": true},
                          {"name": "host", "mountPath": "/v/host"}],
         "securityContext": {"runAsUser": 1000, "runAsGroup": 1001, "runAsNonRoot": true, "readOnlyRootFilesystem": true,
                             "allowPrivilegeEscalation": false, "procMount": "Default",
                             "seccompProfile": {"type": "Localhost", "localhostProfile": "odd.json"}, "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}},
         "imagePullPolicy": "Never", "terminationMessagePath": "/x", "terminationMessagePolicy": "File"},
        {"name": "side", "image": "base", "command": ["/bin/sh", "-c", "look beside; exec sleep 1000"]}],
       "initContainers": [{"name": "prepare", "image": "base", "command": ["/bin/sh", "-c", "echo prepared"]}],
       "volumes": [{"name": "keys", "secret": {"secretName": "s"}},
                   {"name": "part", "secret": {"secretName": "s", "defaultMode": 292, "items": [{"key": "key", "path": "d/f", "mode": 288}, {"key": "key", "path": "g"}]}},
                   {"name": "absent", "secret": {"secretName": "none", "optional": true}}, {"name": "conf", "configMap": {"name": "m"}},
                   {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
                   {"name": "data", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}},
                   {"name": "host", "hostPath": {"path": "$TMP/shared", "type": "Directory"}}],
       "imagePullSecrets": [{"name": "pull"}], "restartPolicy": "Always", "terminationGracePeriodSeconds": 7, "hostname": "hello",
       "hostNetwork": false, "shareProcessNamespace": true, "os": {"name": "linux"}, "hostUsers": true,
       "securityContext": {"runAsUser": 1002, "runAsGroup": 1003, "runAsNonRoot": true, "supplementalGroups": [3000], "fsGroup": 2000,
                           "fsGroupChangePolicy": "Always", "supplementalGroupsPolicy": "Merge", "seccompProfile": {"type": "RuntimeDefault"}},
       "nodeSelector": {"disk": "ssd"}, "affinity": {"nodeAffinity": {}}, "tolerations": [{"key": "k"}], "serviceAccountName": "robot",
       "automountServiceAccountToken": true, "enableServiceLinks": true, "priorityClassName": "high", "runtimeClassName": "gvisor",
       "schedulerName": "mine", "nodeName": "n1", "dnsPolicy": "ClusterFirst", "subdomain": "d"}}}}
END
  touch shared/of-the-host
  run_pod --detach --volume "c=$TMP/host" --secret "s=$TMP/secret" --secret "configmap/m=$TMP/map" --seccomp-profiles "$TMP/profiles" || show_output
  eventually has_line serving 'GET /odd/live HTTP/1.1'
  reaches '.containers[] | select(.name == "serving") | .ready' true
  pod logs -c prepare "$POD" >prepared
  collect serving side
  sed 's/^/prepare: /' prepared >>inside
  effects kubernetes
}
has_line() { pod logs -c "$1" "$POD" | grep -F "$2" >/dev/null; }
