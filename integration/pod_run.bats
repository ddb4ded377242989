# Workload documents that run: `ocirun pod run` and the commands around it, with images made by lib/image.bash.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

@test "each fault of a document has a line of its own, as with validate" {
  container app 'exit 0' 'unknown: 1' 'wrong: 2'
  run run_pod
  equal 1 "$status"
  equal 2 "$(grep -c '^ocirun: error: app.yaml:' "$TMP/output")"
  has "ocirun: pod run: app.yaml has 2 errors" "$(<"$TMP/output")"
}

@test "a pod of two containers in the foreground: lines with prefix, status of the first that failed, nothing left" {
  container one 'echo first; exit 0'
  container two 'echo second >&2; exit 7'
  run run_pod --restart never
  equal 7 "$status"
  equal "one | first
two | second" "$(sort output)"
  equal "" "$(pod_names)"
  run run_pod --restart never --no-prefix
  equal "first
second" "$(sort output)"
}

@test "OAM-13 OAM-14 OAM-15 OAM-16 program, arguments, variables and config files of a document" {
  container only 'echo "$A $FROM"; cat /etc/app/one /etc/two; echo "[$0]"' 'env: [{name: A, value: b c}]' \
    'config: [{path: /etc/app/one, value: "1\n"}, {path: etc/two, value: none, fromParam: two}]'
  run run_pod --restart never --param two=
  equal 0 "$status"
  equal $'b c image\n1\n[/bin/sh]' "$(<output)"
  run run_pod --restart never
  equal 1 "$status"
  has 'the parameter "two": --param two=VALUE' "$(<output)"
  run run_pod --restart never --param two= --param tow=1
  has '--param tow: the document names none of this name (did you mean two?)' "$(<output)"
}

@test "containers of a pod share the network, ipc and host name, and not pids, files and mounts" {
  container one 'for n in net ipc uts; do readlink /proc/self/ns/$n; done; hostname; touch /mine; readlink /proc/self/ns/pid; sleep 1000'
  container two 'for n in net ipc uts; do readlink /proc/self/ns/$n; done; hostname; ls /mine; readlink /proc/self/ns/pid; sleep 1000'
  run_pod --detach
  eventually has_lines one 5
  eventually has_lines two 6
  equal "$(pod logs -c one "$POD" | head -4)" "$(pod logs -c two "$POD" | head -4)"
  equal "$POD" "$(pod logs -c one "$POD" | sed -n 4p)"
  has "/mine: No such file" "$(pod logs -c two "$POD")"
  [[ $(pod logs -c one "$POD" | tail -1) != "$(pod logs -c two "$POD" | tail -1)" ]]
  pod delete --force "$POD"
}

@test "--detach prints the name; status, logs, exec, stop and delete" {
  container app 'trap "echo bye; exit 0" TERM; echo hello; while :; do sleep 0.1; done'
  run_pod --detach
  equal "$POD" "$(<output)"
  equal running "$(says .status)"
  equal 'app running true false 0 null' "$(says '.containers[0] | "\(.name) \(.status) \(.ready) \(.init) \(.restarts) \(.exitCode)"')"
  equal "$POD.app" "$(says '.containers[0].id')"
  has "$POD.app" "$(ocirun list)"
  equal inside "$(pod exec "$POD" echo inside)"
  eventually has_lines app 1
  run pod delete "$POD"
  equal 1 "$status"
  output_mentions "the pod \"$POD\" runs: \`ocirun pod stop $POD\` first, or --force"
  pod stop "$POD"
  equal "stopped null 0" "$(says '"\(.status) \(.supervisor) \(.containers[0].exitCode)"')"
  equal $'hello\nbye' "$(pod logs "$POD")"
  like '^[0-9-]*T[0-9:.]*Z hello' "$(pod logs --timestamps "$POD")"
  equal bye "$(pod logs --tail 1 "$POD")"
  equal "created started running stopping stopping exited stopped" "$(pod events "$POD" | jq -r .event | xargs)"
  run run_pod --detach
  equal 1 "$status"
  has "a pod \"$POD\" exists: \`ocirun pod delete $POD\` removes it" "$(<output)"
  pod delete "$POD"
  equal "" "$(pod_names)"
  run pod status "$POD"
  equal 1 "$status"
  output_mentions "there is no pod \"$POD\" in $TMP/data/pods (\`ocirun pod status\` lists the pods; --data names another directory)"
}

@test "a program that does not end is killed after the grace period" {
  container app 'trap "" TERM; echo up; while :; do sleep 0.1; done'
  run_pod --detach
  eventually has_lines app 1
  pod stop "$POD"
  equal "137 was killed by signal 9 (SIGKILL)" "$(says '.containers[0] | "\(.exitCode) \(.reason)"')"
  has killing "$(pod events "$POD" | jq -r .event)"
}

@test "stop --grace is the time that the program gets" {
  container app 'trap "" TERM; echo up; while :; do sleep 0.1; done'
  run_pod --detach --grace 3600
  eventually has_lines app 1
  pod stop --grace 0 "$POD"
  equal "137 was killed by signal 9 (SIGKILL)" "$(says '.containers[0] | "\(.exitCode) \(.reason)"')"
  run pod stop --grace never "$POD"
  equal 1 "$status"
  output_mentions "--grace never: must be whole seconds"
}

@test "OAM-18 a container that ends is started again with a fresh root filesystem; its restarts are counted" {
  container app 'ls /mark 2>/dev/null; touch /mark; echo run; exit 1'
  run_pod --detach
  reaches '.containers[0].restarts >= 1' true
  eventually has_lines app 2
  equal "run run" "$(pod logs "$POD" | head -2 | xargs)"
  pod delete --force "$POD"
}

@test "RX-2 init containers run one after another before the others; one that fails ends the pod" {
  cat >app.yaml <<'END'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  initContainers:
    second: {image: base, command: [/bin/sh, -c], args: ["cat /work/log && echo second >>/work/log"],
             volumeMounts: {w: {mountPath: /work, volumeName: work}}}
    first: {image: base, command: [/bin/sh, -c], args: ["echo first >>/work/log"],
            volumeMounts: {w: {mountPath: /work, volumeName: work}}}
  containers:
    app: {image: base, command: [/bin/sh, -c], args: ["cat /work/log"],
          volumeMounts: {w: {mountPath: /work, volumeName: work}}}
  volumes: {work: {emptyDir: {}}}
END
  run run_pod --restart never
  equal 1 "$status" # `second` runs first, as the document has it
  has 'init container "second": its program has exited with status 1' "$(<output)"
  equal "" "$(pod_names)"
  sed -i 's/cat .work.log && echo/echo/' app.yaml
  run run_pod --restart never
  equal 0 "$status"
  equal $'app | second\napp | first' "$(<output)"
}

@test "OAM-18 OAM-19 OAM-20 OAM-21 OAM-22 probes: readiness is shown and waited for, a liveness failure restarts" {
  container app 'mkdir -p /w; echo ok >/w/up; httpd -p 8080 -h /w; while [ ! -e /w/dead ]; do sleep 0.1; done; sleep 1000' \
    'readinessProbe: {httpGet: {path: /up, port: 8080}, periodSeconds: 1, timeoutSeconds: 10}' \
    'livenessProbe: {exec: {command: [/bin/sh, -c, "[ ! -e /w/dead ]"]}, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 1}'
  command -v busybox >/dev/null && busybox --list | grep -qx httpd || skip "busybox has no httpd"
  ln -s /bin/busybox "$BUNDLE/rootfs/bin/httpd"
  rm -rf images && make_image images base '{}' "$BUNDLE/rootfs"
  run_pod --detach --wait-ready=20
  equal true "$(says '.containers[0].ready')"
  pod exec "$POD" rm /w/up
  reaches '.containers[0].ready' false
  has 'readiness probe: http://localhost:8080/up: status 404, expected 200 to 399' "$(says '.containers[0].reason')"
  pod exec "$POD" touch /w/dead
  reaches '.containers[0].restarts' 1
  has unhealthy "$(pod events "$POD" | jq -r .event)"
  pod delete --force "$POD"
}

@test "who asks a server of the pod is user 65534 without power, files, environment or other descriptors, below a filter" {
  local supervisor process name
  # Takes a connection and never answers.
  container app 'sleep 1000 | nc -l -p 8080 >/dev/null' \
    'livenessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1, timeoutSeconds: 3600, failureThreshold: 1000}'
  SECRET=of-the-caller run_pod --detach
  supervisor=$(says .supervisor)
  eventually asks
  process=/proc/$(pgrep -P "$supervisor" -x ocirun-probe)
  for name in CapInh CapPrm CapEff CapBnd CapAmb; do like "$name:[[:space:]]0+$" "$(grep "$name" "$process/status")"; done
  like $'Uid:(\t65534){4}' "$(grep Uid: "$process/status")"
  like $'Gid:(\t65534){4}' "$(grep Gid: "$process/status")"
  like 'Groups:[[:space:]]*$' "$(grep Groups: "$process/status")"
  like 'NoNewPrivs:[[:space:]]1' "$(grep NoNewPrivs: "$process/status")"
  equal "" "$(ls -A "$process/root/")"
  equal "" "$(tr '\0' ' ' <"$process/environ")"
  equal "/dev/null pipe: pipe:" "$(readlink "$process"/fd/[012] | sed 's/pipe:.*/pipe:/' | xargs)"
  equal "socket:" "$(find "$process/fd" -name '[3-9]*' -printf '%l\n' | sed 's/:.*/:/' | sort -u)"
  for name in pid ipc mnt; do [[ $(readlink "/proc/self/ns/$name") != "$(readlink "$process/ns/$name")" ]]; done
  equal "$(readlink "/proc/$(says '.containers[0].pid')/ns/net")" "$(readlink "$process/ns/net")"
  pod delete --force "$POD"
  [[ ! -e $process ]]
}
# asks: a process asks a server, and is below its filter.
asks() {
  local asking
  asking=$(pgrep -P "$(says .supervisor)" -x ocirun-probe) && grep -q '^Seccomp:[[:space:]]2' "/proc/$asking/status"
}

@test "--wait-ready of a pod that never is ready: status 1, the reason, the last lines of what was not ready, and nothing left" {
  container app 'seq 1 30; sleep 1000' 'readinessProbe: {tcpSocket: {port: 81}, periodSeconds: 1}'
  container well 'echo well; sleep 1000'
  container mute 'sleep 1000' 'readinessProbe: {tcpSocket: {port: 81}, periodSeconds: 1}'
  run run_pod --detach --wait-ready=2
  equal 1 "$status"
  has 'not all containers were ready within 2 s (--wait-ready); "app": readiness probe: TCP port 81: connect: connection refused' \
    "$(<output)"
  has 'the last lines of container "app" (--keep keeps all):' "$(<output)"
  equal "$(seq -f 'app | %g' 21 30)" "$(grep '^app | ' output)"
  has 'container "mute" has written nothing' "$(<output)"
  [[ $(<output) != *'"well"'* && $(<output) != *'well |'* ]]
  equal "" "$(pod_names)"
  equal "" "$(ocirun list -q)"
}

@test "--keep keeps the record and the logs of a detached pod that could not start" {
  container app 'echo hello; sleep 1000' 'readinessProbe: {tcpSocket: {port: 81}, periodSeconds: 1}'
  run run_pod --detach --keep --wait-ready=1
  equal 1 "$status"
  has "(\`ocirun pod logs $POD\` has all)" "$(<output)"
  equal "failed null exited" "$(says '"\(.status) \(.supervisor) \(.containers[0].status)"')"
  has 'not all containers were ready within 1 s' "$(says .reason)"
  equal hello "$(pod logs "$POD")"
  equal "" "$(ocirun list -q)"
  pod delete "$POD"
}

@test "an init container that fails: its last lines are told where nobody saw them" {
  cat >app.yaml <<'END'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  initContainers: {first: {image: base, command: [/bin/sh, -c], args: ["echo no database; exit 3"]}}
  containers: {app: {image: base, command: [/bin/sh, -c], args: ["sleep 1000"]}}
END
  run run_pod --detach
  equal 1 "$status"
  has 'init container "first": its program has exited with status 3' "$(<output)"
  has 'first | no database' "$(<output)"
  equal "" "$(pod_names)"
}

@test "exec takes a container that runs: an init container that has ended is none" {
  cat >app.yaml <<'END'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  initContainers: {first: {image: base, command: [/bin/sh, -c], args: ["exit 0"]}}
  containers:
    one: {image: base, command: [/bin/sh, -c], args: ["sleep 1000"]}
    two: {image: base, command: [/bin/sh, -c], args: ["sleep 1000"]}
END
  run_pod --detach
  run pod exec "$POD" true
  equal 1 "$status"
  output_mentions 'several containers run: -c names one of one, two'
  [[ $output != *first* ]]
  run pod exec -c first "$POD" true
  equal 1 "$status"
  output_mentions 'init container "first" has ended (exited with status 0): no program can be executed in it'
  run pod exec -c third "$POD" true
  output_mentions 'the pod has no container "third"; those that run: one, two'
  pod stop "$POD"
  run pod exec "$POD" true
  output_mentions 'no container of the pod runs: init container "first" has ended (exited with status 0), container "one" has ended'
}

@test "stop and delete work on several pods at once, each pod once, and go on after an error" {
  local names=() i
  container app 'trap "" TERM; echo up; while :; do sleep 0.1; done'
  for i in 1 2 3; do
    POD=$ID-$i
    run_pod --detach --grace 3600
    names+=("$POD")
    eventually has_lines app 1
  done
  pod stop --grace 3600 "${names[@]}" none 2>errors &
  local stop=$! name
  # Each pod has been asked to stop, while none has ended.
  for name in "${names[@]}"; do
    POD=$name
    eventually has_event stopping
    equal running "$(says '.containers[0].status')"
  done
  for name in "${names[@]}"; do ocirun kill "$name.app" KILL; done
  wait "$stop" && status=0 || status=$?
  equal 1 "$status"
  like "^ocirun: pod stop: none: there is no pod \"none\"" "$(<errors)"
  for name in "${names[@]}"; do POD=$name && equal stopped "$(says .status)"; done
  pod delete "${names[@]}" "${names[0]}"
  equal "" "$(pod_names)"
}

@test "OAM-12 OAM-31 what the machine does not have is an error, and nothing has been started" {
  container app 'echo started'
  sed -i 's/8M/900P/' app.yaml
  run run_pod
  equal 1 "$status"
  has 'app.yaml:8:' "$(<output)"
  has 'memory cannot be had: the containers up to "app" need' "$(<output)"
  [[ ! -e data ]]
}

@test "OAM-33 OAM-34 OAM-35 OAM-36 volumes: of the operator, read-only, exclusive" {
  mkdir shared
  container app 'echo data >/v/file; sleep 1000'
  sed -i 's/memory: {required: 8M}/&, volumes: [{name: v, mountPath: \/v, disk: {required: 1K}}]/' app.yaml
  run run_pod
  has 'a directory for the volume "v": --volume v=HOSTPATH' "$(<output)"
  run_pod --detach --volume "v=$TMP/shared"
  eventually test -s shared/file
  POD=${POD}b
  run run_pod --volume "v=$TMP/shared"
  equal 1 "$status"
  has "$TMP/shared: another pod uses the volume, and sharingPolicy is Exclusive" "$(<output)"
  POD=${POD%b}
  pod delete --force "$POD"
  sed -i 's/sleep 1000/true/' app.yaml
  run run_pod --restart never --volume "v=$TMP/shared:ro"
  has "Read-only file system" "$(<output)"
}

@test "RX-16 the properties of a connection become variables" {
  cat >app.yaml <<'END'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  containers: {app: {image: base, command: [/bin/sh, -c], args: ["echo $CONNECTION_CACHE_HOST"]}}
  connections: {cache: {source: /redis}}
END
  run run_pod --restart never --param cache.host=h
  equal 0 "$status"
  equal h "$(<output)"
  run run_pod --restart never
  has 'the properties of the connection "cache" (/redis) as variables: --param cache.PROPERTY=VALUE' "$(<output)"
}

@test "a pod takes nothing away from another pod of the same name or id" {
  container app 'sleep 1000'
  run_pod --detach
  run ocirun pod run --data "$TMP/other" --images images --net none --name "$POD" app.yaml
  equal 1 "$status"
  output_mentions "is in use by"
  equal running "$(says .status)"
  equal true "$(says '.containers[0].pid > 0')"
  ocirun state "$POD.app" | grep -q '"running"'
  pod delete --force "$POD"
  rm -rf other
}

@test "a program that floods its output or leaves a writer behind does not make the supervisor deaf" {
  container app 'while :; do echo flood; done'
  run_pod --detach
  eventually has_lines app 1000
  pod stop "$POD"
  equal stopped "$(says .status)"
}

@test "OAM-20 an exec probe that hangs or writes much is given up, and leaves no process in the container" {
  container app 'sleep 1000' \
    'livenessProbe: {exec: {command: [/bin/sh, -c, "yes | head -c 300000; sleep 777"]}, periodSeconds: 2, failureThreshold: 100}' \
    'readinessProbe: {exec: {command: [/bin/sh, -c, "yes | head -c 300000"]}, periodSeconds: 1}'
  run_pod --detach --wait-ready=20
  equal true "$(says '.containers[0].ready')"
  eventually given_up
  [[ $(pod exec "$POD" ps | grep -c '[s]leep 777') -le 1 ]]
  pod delete --force "$POD"
}
given_up() { [[ $(pod exec "$POD" ps | grep -c '[s]leep 777') == 0 ]]; }

@test "a supervisor that is killed: status says so, delete removes all" {
  container one 'sleep 1000'
  container two 'sleep 1000'
  run_pod --detach
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  has "is gone; \`ocirun pod delete $POD\` removes what is left" "$(says .reason)"
  equal 2 "$(ocirun list -q | wc -l)"
  pod delete "$POD"
  equal "" "$(ocirun list -q)"
  equal "" "$(pod_names)"
}

@test "--user, --forbid-root, --read-only" {
  container app 'id -u; id -g; touch /x'
  run run_pod --restart never --user web --read-only
  has $'1000\n1000' "$(<output)"
  has 'Read-only file system' "$(<output)"
  run run_pod --restart never --forbid-root
  equal 1 "$status"
  has 'container "app": the program would run as root, which runAsNonRoot forbids' "$(<output)"
  run run_pod --restart never --user nobody
  has 'container "app": ' "$(<output)"
  has 'nobody' "$(<output)"
}

@test "AC-3 AC-5 AC-8 an App Container pod: ids are bound by --image, apps share pids, mount points are bound" {
  mkdir host && echo seen >host/file
  cat >app.yaml <<'END'
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [
  {"name": "one", "image": {"name": "example.com/one", "id": "sha512-..."},
   "app": {"exec": ["/bin/sh", "-c", "cat /in/file; until ps | grep -q '[s]leep 997'; do sleep 0.1; done; echo both"], "user": "0", "group": "0",
           "mountPoints": [{"name": "in", "path": "/in", "readOnly": true}]}},
  {"name": "two", "image": {"name": "example.com/two", "id": "sha512-..."},
   "app": {"exec": ["/bin/sleep", "997"], "user": "0", "group": "0"}}], "volumes": []}
END
  run run_pod
  equal 1 "$status"
  has 'not reified' "$(<output)"
  run_pod --detach --image example.com/one=images:base --image "example.com/two=oci:$TMP/images:base" --volume "in=$TMP/host"
  eventually has_lines one 2
  equal $'seen\nboth' "$(pod logs -c one "$POD")"
  reaches '.containers[0].status' exited # appc never restarts
  pod delete --force "$POD"
}

@test "KN-1 KN-2 KN-6 KN-7 KN-8 a Knative service runs under the contract" {
  cat >app.yaml <<'END'
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      containers:
        - image: base
          command: [/bin/sh, -c]
          args: ['echo "$PORT $K_SERVICE"; touch /tmp/a /var/log/b && nc -l -p $PORT; sleep 1000']
          securityContext: {readOnlyRootFilesystem: true}
END
  run_pod --detach --port 8181
  equal "8181 hello" "$(pod logs "$POD")"
  equal true "$(says '.containers[0].ready')"
  pod delete --force "$POD"
}

@test "an image that cannot be had: an error with the document's place, nothing left" {
  container app true
  sed -i 's/image: base/image: none/' app.yaml
  run run_pod
  equal 1 "$status"
  has 'app.yaml:7:12: /spec/containers/0/image: container "app": --images images: ' "$(<output)"
  has 'no image "none", it has "base"' "$(<output)"
  equal "" "$(pod_names)"
}

@test "a program that does not exist ends with 127 and its place, one that is not executable with 126; nothing left" {
  local option
  container app true
  sed -i 's/cmd: .*/cmd: [\/bin\/none]/; /args:/d' app.yaml
  for option in --no-prefix --detach; do
    run_pod $option && status=0 || status=$?
    equal 127 "$status"
    like 'app\.yaml:9:11: /spec/containers/0/cmd/0: container "app": .*exec: "/bin/none": ' "$(<output)"
    equal "" "$(pod_names)"
    equal "" "$(ocirun list -q)"
  done
  sed -i 's/cmd: .*/cmd: [\/etc]/' app.yaml
  run run_pod
  equal 126 "$status"
  has 'app.yaml:9:11: /spec/containers/0/cmd/0: container "app": ' "$(<output)"
  make_image images broken '{"Entrypoint":["nowhere"]}' "$BUNDLE/rootfs"
  sed -i '/cmd:/d; s/image: base/image: broken/' app.yaml
  run_pod --keep && status=0 || status=$?
  equal 127 "$status"
  has 'app.yaml:7:12: /spec/containers/0/image: container "app": ' "$(<output)"
  has 'exec: "nowhere": executable file not found in $PATH' "$(<output)"
  equal "failed 127" "$(says '"\(.status) \(.containers[0].exitCode)"')"
}

@test "SIGTERM stops a pod in the foreground in order" {
  container one 'trap "echo one ends; exit 0" TERM; echo up; while :; do sleep 0.1; done'
  container two 'trap "echo two ends; exit 0" TERM; echo up; while :; do sleep 0.1; done'
  run_pod --keep &
  local supervisor=$!
  eventually is_there
  eventually has_lines two 1
  kill -TERM "$(says .supervisor)"
  wait "$supervisor"
  equal stopped "$(says .status)"
  has 'one | one ends' "$(<output)"
  has 'two | two ends' "$(<output)"
}

@test "the root filesystem is an overlay of the image's layers, none of which is copied" {
  mkdir more
  unshare -m sh -c "mkdir l u w m && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w m" || skip "there is no overlayfs here"
  truncate -s 1M more/big
  make_image images twice '{"Cmd":["/bin/sh","-c","grep -o \"^overlay / overlay\" /proc/mounts; grep -o volatile /proc/mounts; sleep 1000"]}' \
    "$BUNDLE/rootfs" more
  container app true
  sed -i 's/image: base/image: twice/; /cmd:/d; /args:/d' app.yaml
  run_pod --detach
  eventually has_lines app 2
  equal $'overlay / overlay\nvolatile' "$(pod logs "$POD")"
  is_gone "data/pods/$POD/containers/app/upper.1/bin"
  pod delete --force "$POD"
}
