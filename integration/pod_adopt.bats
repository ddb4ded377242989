# `ocirun pod start` adopts a pod whose supervisor was killed: its programs go on.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

setup_file() { add_way_outside; }
teardown_file() { remove_way_outside; }

quiet_pod() { quietly pod "$@"; }
kept() { jq "$1" "$TMP/data/pods/$POD/keeper.json"; }
pid_of() { says ".containers[] | select(.name == \"$1\").pid"; }
# lose_supervisor [PID]: kills the supervisor of the pod, and the process PID, and waits until the supervisor is gone.
lose_supervisor() {
  kill -KILL "$(says .supervisor)" "$@"
  reaches .supervisor null
}
has_line() { [[ $(pod logs "$POD") == *"$1"* ]]; }
# ends_with STATUS CONTAINER: the last run of the container has ended so.
ended_with() { [[ $(says ".containers[] | select(.name == \"$2\").exitCode") == "$1" ]]; }

@test "start adopts a pod: the programs go on, with all that they have written, and stop ends them in order" {
  local first second supervisor
  container one 'trap "echo bye; exit 3" TERM; n=0; while :; do n=$((n+1)); echo "line $n"; sleep 0.05; done'
  container two 'exec sleep 1000'
  run_pod --detach
  first=$(pid_of one) second=$(pid_of two)
  eventually has_line "line 3"
  lose_supervisor
  has "\`ocirun pod start $POD\` adopts what runs" "$(says .reason)"
  sleep 0.5 # the program writes while nobody reads
  quiet_pod start "$POD"
  has "$POD" "$(<"$TMP/output")"
  has "the programs of the pod \"$POD\" went on" "$(<"$TMP/output")"
  equal "running $first $second" "$(says .status) $(pid_of one) $(pid_of two)"
  eventually has_line "line 30"
  # No line is lost or doubled: the pipe had what was written meanwhile.
  equal "" "$(pod logs -c one "$POD" | grep "^line" | head -n 30 | diff - <(printf 'line %d\n' $(seq 30)))"
  supervisor=$(says .supervisor)
  quiet_pod start "$POD"
  has "the pod \"$POD\" runs already" "$(<"$TMP/output")"
  equal "$supervisor" "$(says .supervisor)"
  pod stop "$POD"
  has_line bye
  equal "stopped 3" "$(says '"\(.status) \(.containers[0].exitCode)"')"
  has "adopted" "$(pod events "$POD" | jq -r .event | xargs)"
  run ! kill -0 "$(kept .keeper.pid)"
}

@test "an adopted pod restarts its programs: with the image's files, the volumes and the parts of volumes that it had" {
  cat >app.yaml <<YAML
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: shop}
spec:
  template:
    spec:
      containers:
        - name: app
          image: base
          command: [/bin/sh, -c]
          args: ["cat /cache/kept /part/kept /written; echo 1 >/cache/kept; echo 2 >/part/kept; echo 3 >/written; exec busybox httpd -f -p 8080 -h /part"]
          volumeMounts: [{name: cache, mountPath: /cache}, {name: cache, mountPath: /part, subPath: part}]
      volumes: [{name: cache, emptyDir: {medium: Memory}}]
YAML
  run_pod --detach
  local first
  first=$(pid_of app)
  lose_supervisor
  rm -r images # the layers are in the store
  mkdir images
  quiet_pod start "$POD"
  equal "$first" "$(pid_of app)"
  pod restart -c app "$POD"
  [[ $(pid_of app) != "$first" ]]
  wrote() { [[ $(pod logs "$POD" | grep -v 'No such file' | xargs) == "1 2" ]]; } # and not 3
  eventually wrote
  equal 1 "$(says '.containers[0].restarts')"
  reaches '.containers[0].ready' true
}

@test "an adopted program that ends is started again, and its exit status is what the kernel tells" {
  container app 'while ! [ -e /tmp/end ]; do sleep 0.05; done; exit 7'
  run_pod --detach --restart never
  lose_supervisor
  quiet_pod start "$POD"
  pod exec "$POD" touch /tmp/end
  reaches .status failed
  # Linux 6.15 tells the status of a process that is nobody's child.
  ended_with 7 app || ended_with 255 app
  has "exit" "$(says '.containers[0].reason')$(says '.containers[0].exitCode')exit"
  pod delete "$POD"
  rm app.yaml
  container app 'while ! [ -e /tmp/end ]; do sleep 0.05; done'
  run_pod --detach
  lose_supervisor
  quiet_pod start "$POD"
  pod exec "$POD" touch /tmp/end
  reaches '.containers[0].restarts' 1
  equal running "$(says .status)"
}

@test "a program that has ended without a supervisor is started again by the rule of the pod" {
  local second
  container one 'while ! [ -e /tmp/end ]; do sleep 0.05; done; echo the end'
  container two 'exec sleep 1000'
  run_pod --detach
  second=$(pid_of two)
  lose_supervisor
  pod exec -c one "$POD" touch /tmp/end
  gone() { [[ $(ocirun state "$POD.one" | jq -r .status) == stopped ]]; }
  eventually gone
  quiet_pod start "$POD"
  eventually has_line "the end"
  reaches '.containers[0].restarts' 1
  equal "$second" "$(pid_of two)"
}

stopped() { [[ $(ocirun state "$POD.$1" | jq -r .status) == stopped ]]; }
# tells_status: Linux 6.15 tells the exit status of a process that is nobody's child.
tells_status() { [[ $(printf '%s\n' 6.15 "$(uname -r)" | sort -V | head -n 1) == 6.15 ]]; }

@test "a job that succeeds while nobody supervises it is not run again" {
  tells_status || skip "needs Linux 6.15"
  container job 'while ! [ -e /tmp/end ]; do sleep 0.05; done; exit 0'
  container other 'exec sleep 1000'
  run_pod --detach --restart on-failure
  lose_supervisor
  pod exec -c job "$POD" touch /tmp/end
  eventually stopped job
  equal "exited null running" "$(says '.containers | "\(.[0].status) \(.[0].pid) \(.[1].status)"')"
  quiet_pod start "$POD"
  equal "exited 0 0" "$(says '.containers[0] | "\(.status) \(.exitCode) \(.restarts)"')"
}

@test "a container that is gone, and a stop that was cut off: what shall run runs again after start" {
  local second
  container one 'trap "exit 0" TERM; while :; do sleep 0.1; done'
  container two 'trap "" TERM; while :; do sleep 0.1; done'
  run_pod --detach --grace 100
  second=$(pid_of two)
  lose_supervisor
  ocirun delete --force "$POD.one"
  quiet_pod start "$POD"
  reaches '.containers[0].restarts' 1
  equal "$second" "$(pid_of two)"
  kill -TERM "$(says .supervisor)"
  reaches '.containers[0].status' exited
  lose_supervisor
  quiet_pod start "$POD"
  reaches '.containers[0].status' running
  equal "running $second" "$(says .status) $(pid_of two)"
  pod stop --grace 0 "$POD"
}

@test "a damaged keeper.json is as none; an adopted pod does not keep the store of images locked" {
  container app 'exec sleep 1000'
  run_pod --detach
  lose_supervisor
  quiet_pod start "$POD"
  pod images prune
  lose_supervisor "$(kept .keeper.pid)"
  echo >"data/pods/$POD/keeper.json"
  quiet_pod start "$POD"
  has "nobody can adopt them" "$(<"$TMP/output")"
  equal running "$(says .status)"
}

@test "a supervisor that is killed again and again: each start adopts the pod" {
  local first turn
  container app 'exec sleep 1000'
  run_pod --detach
  first=$(pid_of app)
  for turn in 1 2 3; do
    lose_supervisor
    quiet_pod start "$POD"
    equal "running $first" "$(says .status) $(pid_of app)"
  done
  equal "$turn" "$(pod events "$POD" | jq -r .event | grep -c adopted)"
  pod restart -c app "$POD"
  lose_supervisor
  quiet_pod start "$POD"
  equal running "$(says .status)"
}

@test "without its keeper or its programs a pod is started anew, and start says why" {
  local first
  container app 'exec sleep 1000'
  run_pod --detach
  first=$(pid_of app)
  kill -KILL "$(kept .keeper.pid)"
  degraded() { [[ $(says .reason) == *"cannot adopt the pod any more: its keeper was killed by signal 9"* ]]; }
  eventually degraded
  lose_supervisor
  quiet_pod start "$POD"
  has "the programs of the pod are ended and started again, because nobody can adopt them" "$(<"$TMP/output")"
  [[ $(pid_of app) != "$first" ]]
  run ! kill -0 "$first"
  lose_supervisor
  kill -KILL "$(pid_of app)"
  gone() { [[ $(ocirun state "$POD.app" | jq -r .status) == stopped ]]; }
  eventually gone
  quiet_pod start "$POD"
  equal running "$(says .status)"
}

@test "OAM-35 an exclusive volume stays the pod's while nobody supervises it" {
  mkdir host
  cat >app.yaml <<YAML
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop}
spec:
  containers:
    - name: app
      image: base
      cmd: [/bin/sh, -c]
      args: [exec sleep 1000]
      resources:
        cpu: {required: 0.1}
        memory: {required: 8M}
        volumes: [{name: data, mountPath: /data, sharingPolicy: Exclusive, accessMode: RW, disk: {required: 1K}}]
YAML
  run_pod --detach --volume data=host
  lose_supervisor
  run ocirun pod run --data "$TMP/data" --images images --net none --volume data=host --name "$POD-b" app.yaml
  equal 1 "$status"
  output_mentions "another pod uses the volume"
  quiet_pod start "$POD"
  run ocirun pod run --data "$TMP/data" --images images --net none --volume data=host --name "$POD-b" app.yaml
  equal 1 "$status"
  output_mentions "another pod uses the volume"
  pod delete --force "$POD"
  ocirun pod run --data "$TMP/data" --images images --net none --volume data=host --detach --name "$POD" app.yaml </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}

answers() { [[ $(curl -s -m 2 http://127.0.0.1:18081/) == hello ]]; }

@test "an adopted pod keeps its network: pasta goes on, and is started again when it ends" {
  needs_pasta
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18081 -h /www' 'ports: [{name: web, containerPort: 18081}]'
  run_pod --detach --net pod --publish-all
  eventually answers
  local pasta
  pasta=$(jq .forwarder.pid "data/pods/$POD/pod.json")
  lose_supervisor
  quiet_pod start "$POD"
  answers
  equal "$pasta" "$(jq .forwarder.pid "data/pods/$POD/pod.json")"
  kill -KILL "$pasta"
  restarted() { [[ $(jq .forwarder.pid "data/pods/$POD/pod.json") != "$pasta" ]] && answers; }
  eventually restarted
  lose_supervisor
  kill -KILL "$(jq .forwarder.pid "data/pods/$POD/pod.json")"
  quiet_pod start "$POD"
  eventually answers
}

@test "an adopted pod of a network follows its members" {
  container app 'exec sleep 1000'
  run_pod --detach --network "$ID"
  lose_supervisor
  ocirun pod run --data "$TMP/data" --images images --net none --grace 1 --network "$ID" --detach --name "$POD-b" app.yaml \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  run ! pod exec "$POD" grep -q "$POD-b" /etc/hosts
  quiet_pod start "$POD"
  sees() { pod exec "$POD" grep -q "$POD-b" /etc/hosts; }
  eventually sees
  pod delete --force "$POD-b"
  forgets() { ! sees; }
  eventually forgets
}
