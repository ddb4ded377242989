# Pods that another OCI runtime runs: `ocirun pod run --runtime PATH`, with Debian's runc and crun.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/image.bash"
source "$LIB/pods.bash"

# crun runs nothing on a hybrid host whose unified hierarchy offers a controller: the tests of this file see the hierarchies of cgroup v1
# alone.
setup_file() {
  [[ -e /sys/fs/cgroup/unified/cgroup.controllers ]] || return 0
  local seen=$BATS_FILE_TMPDIR/cgroup path
  mkdir "$seen"
  mount -t tmpfs -o mode=0755 tmpfs "$seen"
  for path in /sys/fs/cgroup/*/; do
    [[ $path != */unified/ ]] || continue
    mkdir "$seen/$(basename "$path")"
    mount --bind "$path" "$seen/$(basename "$path")"
  done
  mount --move "$seen" /sys/fs/cgroup
  touch "$BATS_FILE_TMPDIR/is_hidden"
}

teardown_file() {
  [[ ! -e $BATS_FILE_TMPDIR/is_hidden ]] || umount --recursive /sys/fs/cgroup
}

setup() {
  common_setup
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  make_image images base '{"Env":["FROM=image"],"StopSignal":"SIGUSR1"}' "$BUNDLE/rootfs"
  mkdir "$ROOT"
  POD=$ID
}

teardown() {
  delete_pods
  [[ ! -d $ROOT ]] || rmdir "$ROOT"/* 2>/dev/null || true # runc and crun leave empty directories of their own
  rmdir "$ROOT" || true
  common_teardown
}

# with RUNTIME [OPTION…]: runs app.yaml with the runtime, detached.
with() { quietly pod run --runtime "$RUNTIME" --images images --net none --grace 10 --name "$POD" --detach "$@" app.yaml; }

# find_runtime NAME: sets RUNTIME to its path; skips the test if the runtime runs nothing here.
find_runtime() {
  RUNTIME=$(command -v "$1") || skip "$1 is not installed"
  config '.ociVersion = "1.0.2"'
  program true
  run "$RUNTIME" --root "$ROOT" run --bundle "$BUNDLE" "$ID-try"
  [[ $output != *"hybrid mode not supported"* ]] || skip "$1 runs nothing on this host: $output"
  succeeds
}

document() {
  cat >app.yaml <<'END_OF_DOCUMENT'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  initContainers:
    first: {image: base, command: [/bin/sh, -c], args: ["echo made >/work/by-init"], volumeMounts: {w: {mountPath: /work, volumeName: work}}}
  containers:
    one:
      image: base
      command: [/bin/sh, -c]
      args: ["trap 'echo ends; exit 0' USR1; cat /work/by-init; echo $FROM $A; readlink /proc/self/ns/net; hostname; touch /ready;
        while :; do sleep 0.1; done"]
      env: {A: {value: given}}
      resources: {limits: {memoryInMiB: 32}}
      volumeMounts: {w: {mountPath: /work, volumeName: work}}
      readinessProbe: {exec: {command: [test, -e, /ready]}, periodSeconds: 1}
    two:
      image: base
      command: [/bin/sh, -c]
      args: ["until [ -e /work/go ]; do sleep 0.1; done; readlink /proc/self/ns/net; hostname; exit 3"]
      volumeMounts: {w: {mountPath: /work, volumeName: work}}
  volumes: {work: {emptyDir: {}}}
END_OF_DOCUMENT
}

# a_life RUNTIME: a pod from its start to its end.
a_life() {
  find_runtime "$1"
  document
  with --restart never --wait-ready=30
  equal $'made\nimage given' "$(pod logs -c one "$POD" | head -2)"
  pod exec -c one "$POD" touch /work/go
  eventually has_lines two 2
  equal "$(pod logs -c one "$POD" | tail -n 2)" "$(pod logs -c two "$POD")" # the network and the host name of the pod
  reaches '.containers[] | select(.name == "two") | "\(.status) \(.exitCode)"' "exited 3"
  equal running "$("$RUNTIME" --root "$ROOT" state "$POD.one" | jq -r .status)"
  equal "$((32 << 20))" "$(pod exec -c one "$POD" cat /sys/fs/cgroup/memory/memory.limit_in_bytes)"
  equal inside "$(pod exec -c one "$POD" echo inside)"
  run pod exec -c one "$POD" sh -c 'exit 7'
  equal 7 "$status"
  run pod exec -iu web -e A=now -e HOME=/h -w /work -c one "$POD" sh -c \
    'echo $(id -u):$(id -g) $A $HOME $FROM $PWD; ls /proc/self/fd | xargs; exit 7' <<<"" # crun gives a device to the user
  equal 7 "$status"
  equal $'1000:1000 now /h image /work\n0 1 2 3' "$output"
  equal "last /work image" "$(pod exec -e A=first -e A=last -w /work -c one "$POD" sh -c 'echo $A $PWD $FROM')"
  TERM=vt220 run "$LIB/pty" "$OCIRUN" --root "$ROOT" pod exec --data "$TMP/data" -it -c one "$POD" sh -c 'echo $TERM $FROM'
  equal $'vt220 image\nstatus 0' "$output"
  run "$LIB/pty" --size 31x97 "$OCIRUN" --root "$ROOT" pod exec --data "$TMP/data" -itu web -c one "$POD" sh -c \
    'until stty size | grep "31 97"; do sleep 0.1; done 2>/dev/null; id -u; exit 6' # runc sets the size after the start
  equal $'31 97\n1000\nstatus 6' "$output"
  pod stop "$POD"
  equal ends "$(pod logs -c one --tail 1 "$POD")"
  equal stopped "$(says .status)"
  pod delete "$POD"
  equal "" "$(pod_names)"
  equal "" "$("$RUNTIME" --root "$ROOT" list -q)"
}

# a_bad_life RUNTIME: a container that is started again, is killed, and cannot be started.
a_bad_life() {
  find_runtime "$1"
  printf '%s\n' 'apiVersion: core.oam.dev/v1alpha2' 'kind: ContainerizedWorkload' 'metadata: {name: shop}' 'spec:' '  containers:' \
    '    - {name: app, image: base, resources: {cpu: {required: 0.1}, memory: {required: 8M}}, cmd: [/bin/sh, -c], args: [trap "" USR1; ls /mark; touch /mark; test -e /mark || exit 1; exit 1]}' >app.yaml
  with
  reaches '.containers[0].restarts >= 1' true
  pod delete --force "$POD"
  sed -i 's/exit 1]}/sleep 1000]}/' app.yaml
  with --grace 1
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  pod delete "$POD"
  equal "" "$("$RUNTIME" --root "$ROOT" list -q)"
  sed -i 's/cmd: [^,]*, -c/cmd: [\/bin\/none/' app.yaml
  with --grace 1 && status=0 || status=$?
  equal 127 "$status"
  has '/spec/containers/0/cmd/0: container "app": ' "$(<output)"
  has '/bin/none' "$(<output)"
  equal "" "$(pod_names)"
  equal "" "$("$RUNTIME" --root "$ROOT" list -q)"
}

# a_day RUNTIME: what `stats`, `ports` and `cp` say and do.
a_day() {
  find_runtime "$1"
  document
  with --restart never --wait-ready=30
  equal '["one",33554432,0]' "$(pod stats --format json "$POD" | jq -c '.[0] | [.container, .memoryLimitBytes, .networkSentBytes]')"
  equal true "$(pod stats --format json "$POD" | jq '.[0] | .cpuNanoseconds > 0 and .memoryBytes > 0 and .pids >= 1')"
  equal "$POD: has no ports" "$(pod ports "$POD")"
  pod cp -c one app.yaml "$POD:/work/copy"
  pod cp -c two "$POD:/work/copy" copy
  equal "$(<app.yaml)" "$(<copy)"
}

@test "runc: the life of a pod" { a_life runc; }
@test "crun: the life of a pod" { a_life crun; }
@test "runc: restarts, a killed supervisor, a program that does not exist" { a_bad_life runc; }
@test "crun: restarts, a killed supervisor, a program that does not exist" { a_bad_life crun; }

@test "runc: stats, ports and cp" { a_day runc; }
@test "crun: stats, ports and cp" { a_day crun; }

@test "the bundles of a plan run with runc and crun" {
  local name
  document
  sed -i 's/until.*done; //' app.yaml
  pod plan --images images -o out app.yaml
  for name in runc crun; do
    find_runtime "$name"
    "$RUNTIME" --root "$ROOT" run --bundle out/two "$ID-$name" >lines || equal 3 $?
    equal 2 "$(wc -l <lines)"
  done
}
