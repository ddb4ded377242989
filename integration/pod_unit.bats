# Pods as services: the units of `ocirun pod unit`, and what a supervisor tells a service manager. Without systemd: pod_service.bats has
# systemd.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

UP='trap "exit 7" TERM; echo up; sleep 1000 & wait'

# supervised [OPTION…] -- [OPTION…]: `run_pod` under lib/notify-receiver; the first options are for the receiver, the others for run.
supervised() {
  local options=()
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  timeout --foreground -k 2 100 "$LIB/notify-receiver" "${options[@]}" "${NOTIFY:-$TMP/notify}" \
    "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --images images --net none --grace 1 --name "$POD" "$@" app.yaml
}

told() { grep -qxF -- "$1" "$TMP/helper.log"; }
pod_unit() { run ocirun pod unit --images images --name "$POD" "$@"; }

@test "a pod in the foreground tells the service manager of its start, its state and its stop, which succeeds" {
  container one "$UP"
  container two "$UP"
  helper supervised --
  eventually told READY=1
  eventually told "STATUS=running: 2 of 2 containers ready"
  equal "STATUS=starting EXTEND_TIMEOUT_USEC=60000000" "$(grep -m 1 STATUS=starting "$TMP/helper.log")"
  pod stop --grace 5 "$POD"
  eventually told "status 0"
  equal "STOPPING=1 STATUS=stopping EXTEND_TIMEOUT_USEC=65000000" "$(grep STOPPING "$TMP/helper.log")"
  equal 1 "$(grep -c READY=1 "$TMP/helper.log")"
}

@test "--wait-ready: READY=1 comes when the probes have succeeded; an abstract socket" {
  container app 'until [ -e /dev/shm/go ]; do sleep 0.1; done; touch /ready; sleep 1000' \
    'readinessProbe: {exec: {command: [test, -e, /ready]}, periodSeconds: 1}'
  NOTIFY=@ocirun-$ID helper supervised -- --wait-ready=200
  eventually told "STATUS=starting: 0 of 1 containers ready"
  equal "STATUS=starting EXTEND_TIMEOUT_USEC=260000000" "$(grep -m 1 STATUS=starting "$TMP/helper.log")"
  run told READY=1
  exits 1
  reaches '.containers[0].status' running # the status is told while the container is made, too
  pod exec "$POD" touch /dev/shm/go
  eventually told READY=1
  pod stop --grace 0 "$POD"
  eventually told "status 0"
}

@test "a pod that ends by itself has its own status, and one that cannot start is never ready" {
  container app 'exit 7'
  run supervised -- --restart never
  output_mentions "status 7"
  output_mentions READY=1
  sed -i 's/exit 7/true/; s/\/bin\/sh/\/bin\/none/' app.yaml
  rm "$TMP/notify"
  run supervised -- --restart never
  output_mentions "status 127"
  output_never_mentions READY=1
}

@test "a stop during the start succeeds, and says so" {
  container app 'sleep 1000' 'readinessProbe: {exec: {command: ["false"]}, periodSeconds: 1}'
  helper supervised -- --wait-ready=200
  eventually told "STATUS=starting: 0 of 1 containers ready"
  pod stop --grace 0 "$POD"
  eventually told "status 0"
  run told READY=1
  exits 1
  grep -qF 'the pod was stopped before all containers were ready' "$TMP/helper.log"
}

@test "a stop during the start without --wait-ready: the pod is never announced" {
  printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: shop}' spec: \
    '  initContainers: [{name: first, image: base, command: [/bin/sh, -c, sleep 1000]}]' \
    '  containers: [{name: app, image: base}]' >app.yaml
  helper supervised --
  reaches '.containers[0].status' running
  pod stop --grace 0 "$POD"
  eventually told "status 0"
  run told READY=1
  exits 1
  grep -qF 'the pod was stopped before all containers were started' "$TMP/helper.log"
  run_pod --detach &
  local caller=$!
  reaches '.containers[0].status' running
  pod stop --grace 0 "$POD"
  status=0
  wait "$caller" || status=$? # not by run: the shell of run is another one, which has no such child
  equal 1 "$status"
  has 'the pod was stopped before all containers were started' "$(<output)"
  equal "" "$(pod_names)"
}

@test "WATCHDOG=1 comes while the pod runs" {
  container app "$UP"
  WATCHDOG_USEC=400000 helper supervised --
  eventually told READY=1
  has_beats() { [[ $(grep -cx WATCHDOG=1 "$TMP/helper.log") -ge 4 ]]; }
  eventually has_beats
  pod stop --grace 0 "$POD"
  eventually told "status 0"
}

@test "a service manager that cannot be reached is a warning" {
  container app 'echo up'
  NOTIFY_SOCKET=$TMP/none run run_pod --restart never
  equal 0 "$status"
  has "warning: NOTIFY_SOCKET=$TMP/none: connect: no such file or directory" "$(<output)"
}

@test "the variables of a service manager reach neither the runtime nor containers; --detach tells nothing" {
  container app 'env; sleep 1000'
  printf '%s\n' '#!/bin/bash' "env >>'$TMP/seen'" 'exec "$OCIRUN" "$@"' >runtime
  chmod 755 runtime
  NOTIFY_SOCKET=$TMP/none WATCHDOG_USEC=1000000 WATCHDOG_PID=1 run_pod --runtime "$PWD/runtime" --detach
  equal "$POD" "$(<output)"
  grep -q ^OCIRUN= "$TMP/seen"
  eventually has_lines app 2
  equal 0 "$(pod logs "$POD" | cat - "$TMP/seen" | grep -cE 'NOTIFY|WATCHDOG' || true)"
  WATCHDOG_USEC=1000000 NOTIFY_SOCKET=$TMP/none pod exec "$POD" true
  equal 0 "$(grep -cE 'NOTIFY|WATCHDOG' "$TMP/seen" || true)"
}

@test "--replace=always replaces a pod that is the same; another word is refused" {
  container app "$UP"
  run_pod --detach
  local first
  first=$(says .supervisor)
  run_pod --detach --replace
  equal "$first" "$(says .supervisor)"
  run_pod --detach --replace=always
  [[ $first != "$(says .supervisor)" ]]
  run run_pod --replace=never
  equal 1 "$status"
  has '--replace=never: must be always, or --replace alone' "$(<output)"
}

@test "unit prints a service with absolute paths" {
  container app "$UP"
  mkdir "a b"
  mv app.yaml 'a b/$x%.yaml'
  cd "a b"
  run "$OCIRUN" --root=../state --log log pod unit --data ../data --images ../images --image base=../images:base --secret "s=dir" --env 'A=b c' \
    --seccomp unconfined --log-dir . --net none --name "$POD" --grace 5 --param p=rel/x './$x%.yaml'
  exits 1 # the document names no secret s and no parameter
  output_mentions '--secret s: the document names none of this name'
  run "$OCIRUN" --root=../state --log log pod unit --data ../data --images ../images --image base=../images:base --env 'A=b c' \
    --seccomp unconfined --log-dir . --net none --name "$POD" --grace 5 './$x%.yaml'
  exits 0
  local here=$TMP/a\ b
  output_mentions "ExecStart=$OCIRUN \"--root=$here/../state\" --log \"$here/log\" pod run --replace=always --name=$POD \"--data=$here/../data\" \"--images=$here/../images\" \"--image=base=$here/../images:base\" \"--env=A=b c\" --seccomp=unconfined --net=none --grace=5 \"--log-dir=$here\" -- \"$here/\$\$x%%.yaml\""
  output_mentions "RequiresMountsFor=\"$here/\$x%%.yaml\""
  output_mentions "TimeoutStopSec=65"
  output_mentions "TimeoutStartSec=300"
}

@test "probes and init containers decide how long a start may take" {
  container app "$UP" 'readinessProbe: {exec: {command: ["true"]}, periodSeconds: 60, failureThreshold: 10}'
  pod_unit app.yaml
  exits 0
  output_mentions "--wait-ready=600"
  output_mentions "TimeoutStartSec=900"
  pod_unit --wait-ready=7 app.yaml
  output_mentions "--wait-ready=7 "
  output_mentions "TimeoutStartSec=307"
}

@test "what cannot be a unit is refused" {
  container app "$UP"
  pod_unit - <app.yaml
  exits 1
  output_mentions "a service cannot read its document from standard input: give a file"
  pod_unit --detach app.yaml
  output_mentions "--detach: the supervisor of a service stays in the foreground"
  pod_unit --env HOME app.yaml
  output_mentions "--env HOME: a service does not have the caller's environment"
  pod_unit --env-file - app.yaml </dev/null
  output_mentions '--env-file: a service has no standard input'
  pod_unit --env $'A=b\nExecStart=/bin/x' app.yaml
  exits 1
  output_mentions 'cannot stand in a unit of systemd'
  pod_unit --activate app.yaml
  output_mentions "--activate: the document has no port"
  sed -i 's/    image: base/&\n    ports: [{name: http, containerPort: 8080}]/' app.yaml
  pod_unit --activate=0 app.yaml
  output_mentions "--activate=0: must be a second at least"
  pod_unit --activate --net host app.yaml
  output_mentions "--activate: with --net host a container itself opens the port that the socket unit has"
  pod_unit --activate --net none app.yaml
  output_mentions "--activate: with --net none"
  sed -i 's/containerPort: 8080/containerPort: 8080, protocol: UDP/' app.yaml
  pod_unit --activate app.yaml
  output_mentions "--activate: port 8080/udp of the host leads to the pod, and systemd-socket-proxyd forwards TCP only"
}

@test "unit -o writes the units, again too, and leaves files of others alone" {
  container app "$UP" 'ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9090}]'
  mkdir units
  pod_unit --activate --publish http=127.0.0.1:80 -P -o units app.yaml
  exits 0
  output_mentions "$TMP/units/ocirun-$POD@80.socket"
  equal "ocirun-$POD.service ocirun-$POD@80.service ocirun-$POD@80.socket ocirun-$POD@9090.service ocirun-$POD@9090.socket" "$(cd units && echo *)"
  grep -qxF ListenStream=127.0.0.1:80 "units/ocirun-$POD@80.socket"
  grep -qF -- '--publish=8080/tcp=127.' "units/ocirun-$POD.service"
  equal 0 "$(grep -cE -- '--publish=http|--publish-all' "units/ocirun-$POD.service" || true)"
  pod_unit -o units app.yaml
  exits 0
  equal 0 "$(grep -c StopWhenUnneeded "units/ocirun-$POD.service" || true)"
  echo "[Unit]" >"units/ocirun-$POD@80.socket"
  rm "units/ocirun-$POD.service"
  pod_unit --activate --publish http=127.0.0.1:80 -P -o units app.yaml
  exits 1
  output_mentions "--output: ocirun-$POD@80.socket was not written by \`ocirun pod unit\`"
  [[ ! -e units/ocirun-$POD.service ]]
  equal "" "$(find units -newer app.yaml -name '.*' -o -name "ocirun-$POD.service")"
  pod_unit -o none app.yaml
  exits 1
  output_mentions "--output: open $TMP/none: no such file or directory"
}

@test "an ordinary user's unit, and --user-unit: the home directory is %h" {
  container app "$UP"
  HOME=$TMP pod_unit --user-unit app.yaml
  exits 0
  output_mentions "-- %h/app.yaml"
  output_mentions "--images=%h/images"
  output_mentions "WantedBy=default.target"
  output_mentions "loginctl enable-linger"
  output_never_mentions network-online.target
}
