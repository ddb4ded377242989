# A supervisor waits for no command of the runtime: while one container is created, started, killed or removed, however long that takes,
# the output of the others is read, and the pod stops within its grace period.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

readonly SLEEP=6 # seconds that a slow command takes

# slow COMMAND: makes ./slow a runtime of which this command is slow for the container `other` while ./is-slow exists.
slow() {
  cat >slow <<END
#!/bin/sh
for word; do
  case \$word in
    $1) is_command=1 ;;
    *.other) is_other=1 ;;
  esac
done
[ -z "\$is_command\$is_other" ] || [ "\$is_command\$is_other" != 11 ] || [ ! -e $TMP/is-slow ] || { touch $TMP/in-$1; sleep $SLEEP; }
exec $OCIRUN "\$@"
END
  chmod 0755 slow
}

# two_containers [YAML-LINE…]: `line` prints the time each tenth of a second, `other` ends when /end is there.
two_containers() {
  container line 'while :; do cat /proc/uptime; sleep 0.1; done'
  container other 'trap "exit 0" TERM; until [ -e /end ]; do sleep 0.1; done' "$@"
}

# widest_gap: the longest time between two lines of `line`, in milliseconds, by the times in the log.
widest_gap() {
  pod logs --timestamps -c line "$POD" | python3 -c '
import sys, datetime
times = [datetime.datetime.fromisoformat(line.split()[0].replace("Z", "+00:00")[:26].rstrip("+:")) for line in sys.stdin]
print(max(int((b - a).total_seconds() * 1000) for a, b in zip(times, times[1:])))'
}

@test "a slow command of one container delays no line of another one" {
  local command restarting
  for command in state create start kill delete; do
    rm -f app.yaml is-slow in-*
    slow "$command"
    two_containers
    run_pod --runtime "$TMP/slow" --detach
    touch is-slow
    if [[ $command == kill ]]; then
      pod restart -c other "$POD" &
      restarting=$!
    else
      pod exec -c other "$POD" touch /end
    fi
    eventually test -e "in-$command"
    reaches '.containers[] | select(.name == "other") | [.restarts, .status] | tojson' '[1,"running"]'
    [[ -z ${restarting:-} ]] || wait "$restarting"
    (($(widest_gap) < SLEEP * 500)) || { widest_gap; echo "$command"; false; }
    rm is-slow
    pod delete --force "$POD"
  done
}

@test "a pod stops while the runtime creates a container, within its grace period" {
  slow create
  sed -i 's/sleep .*;/sleep 100;/' slow
  two_containers
  run_pod --runtime "$TMP/slow" --detach
  touch is-slow
  pod exec -c other "$POD" touch /end
  eventually test -e in-create
  local begun=$SECONDS
  pod stop --grace 1 "$POD"
  ((SECONDS - begun < 50))
  equal stopped "$(says .status)"
  pod delete "$POD"
  [[ -z $(pgrep -f "$TMP/slow") ]]
}

@test "a second signal ends the pod at once, while the runtime creates its first container" {
  slow create
  sed -i 's/sleep .*;/sleep 100;/' slow
  touch is-slow
  two_containers
  "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --runtime "$TMP/slow" --images images --net none --grace 60 --name "$POD" app.yaml \
    </dev/null >output 2>&1 3>&- 4>&- &
  local supervisor=$!
  eventually test -e in-create
  kill "$supervisor"
  reaches .status stopping
  kill "$supervisor"
  wait "$supervisor" || true
  equal "" "$(pod_names)"
}

@test "a program that has ended before the runtime has started it is told, and its status is kept" {
  slow start
  touch is-slow
  sed -i "s/{ touch/{ $(printf '%s' "$OCIRUN" | sed 's/[&/]/\\&/g') \"\$@\"; touch/; s/sleep $SLEEP;/sleep 1; exit 0;/" slow
  container other 'echo ran; exit 7'
  run run_pod --runtime "$TMP/slow" --restart never
  equal 7 "$status"
  equal ran "$(<output)"
}

# cpu_ticks PID: the CPU time of the process until now, in clock ticks.
cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f12,13 | { read -r user system && echo $((user + system)); }; }

# is_idle: the supervisor of the pod uses less than a quarter of a CPU for two seconds.
is_idle() {
  local supervisor before
  supervisor=$(says .supervisor)
  before=$(cpu_ticks "$supervisor")
  sleep 2
  (($(cpu_ticks "$supervisor") - before < $(getconf CLK_TCK) / 2))
}

@test "a supervisor uses no CPU while a create that has written something is given up" {
  slow create
  sed -i 's/sleep .*;/echo written; echo written >\&2; sleep 100;/' slow
  two_containers
  run_pod --runtime "$TMP/slow" --detach
  touch is-slow
  pod exec -c other "$POD" touch /end
  eventually test -e in-create
  pod stop --grace 8 "$POD" &
  local stopping=$!
  eventually has_event stopping
  is_idle
  wait "$stopping"
}

@test "a supervisor uses no CPU while a container that could not be started waits" {
  slow start
  sed -i 's/sleep .*;/exit 1;/' slow
  two_containers
  run_pod --runtime "$TMP/slow" --detach
  touch is-slow
  pod exec -c other "$POD" touch /end
  reaches '.containers[] | select(.name == "other") | .status' waiting
  is_idle
}

# supervised [OPTION…]: runs app.yaml in the foreground; the supervisor is $SUPERVISOR.
supervised() {
  "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --runtime "$TMP/slow" --images images --net none --name "$POD" "$@" app.yaml \
    </dev/null >output 2>&1 3>&- 4>&- &
  SUPERVISOR=$!
}
# failing COMMANDS: makes ./slow a runtime whose commands, such as "state|delete", fail for `other` while ./is-slow exists.
failing() {
  slow "$1"
  sed -i 's/{ touch.*/{ echo busy >\&2; exit 1; }/' slow
}
# goes_on: `line` writes fifty lines more, and the supervisor has read each of its lines in time. Only a hang reaches the deadline.
goes_on() {
  local before
  before=$(pod logs -c line "$POD" | wc -l)
  eventually has_lines line $((before + 50))
  (($(widest_gap) < 5000)) || { widest_gap; false; }
}

@test "a metadata program that does not answer when it is started again delays no line of a container" {
  mkdir bin && cp "${OCIRUN%/*}"/ocirun* bin && OCIRUN=$TMP/bin/ocirun
  jq -n '{acVersion: "0.8.11", acKind: "PodManifest", apps: [{name: "line", image: {name: "example.com/line", id: "sha512-..."},
    app: {exec: ["/bin/sh", "-c", "while :; do cat /proc/uptime; sleep 0.1; done"], user: "0", group: "0"}}]}' >app.yaml
  run_pod --metadata --image example.com/line=images:base --detach
  mv bin/ocirun-metadata bin/answers
  printf '#!/bin/sh\nexec sleep 1000\n' >bin/ocirun-metadata && chmod 0755 bin/ocirun-metadata
  kill -KILL "$(jq .metadata.pid "data/pods/$POD/pod.json")"
  eventually has_event degraded
  goes_on
  mv bin/answers bin/ocirun-metadata
  eventually has_event recovered
}

@test "a lock of the pod's network that another process holds delays no line of a container" {
  two_containers
  run_pod --network shop --detach
  helper bash -c 'exec 7<data/networks/shop && flock 7 && exec sleep 1000'
  eventually eval '! flock -n data/networks/shop true'
  kill -KILL "$(jq .holder.pid data/networks/shop/network.json)"
  eventually has_event degraded
  goes_on
  stop_helpers
  eventually has_event recovered
}

@test "a reader of the output that is stuck delays no line of a log" {
  two_containers
  container loud 'while :; do seq 100000 100999; sleep 0.1; done'
  mkfifo stuck && exec 7<>stuck
  "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --images images --net none --grace 1 --name "$POD" app.yaml \
    </dev/null >stuck 2>&1 3>&- 4>&- 7>&- &
  SUPERVISOR=$!
  reaches .status running
  goes_on
  kill "$SUPERVISOR"
  wait "$SUPERVISOR" || true
  exec 7>&-
}

@test "a container of somebody else with the id of ours is not removed, whatever the runtime says of it" {
  two_containers
  ocirun create --bundle "$BUNDLE" "$POD.other" </dev/null >/dev/null 2>&1 3>&- 4>&-
  failing state
  touch is-slow
  run run_pod --runtime "$TMP/slow"
  equal 1 "$status"
  equal created "$(ocirun state "$POD.other" | jq -r .status)"
  rm is-slow
  run run_pod --runtime "$TMP/slow"
  equal 1 "$status"
  equal created "$(ocirun state "$POD.other" | jq -r .status)"
  ocirun delete --force "$POD.other"
}

@test "a container that the runtime cannot remove stays in the record, is told of, and is removed later" {
  failing 'state|delete'
  two_containers
  run_pod --runtime "$TMP/slow" --keep --detach
  touch is-slow
  kill "$(says '.containers[] | select(.name == "other") | .pid')"
  eventually has_event not-removed
  equal true "$(jq '.containers[] | select(.name == "other") | .claimed' "data/pods/$POD/pod.json")"
  rm is-slow
  reaches '.containers[] | select(.name == "other") | [.restarts, .status] | tojson' '[1,"running"]'
  touch is-slow
  pod stop "$POD"
  ocirun state "$POD.other"
  run pod delete "$POD"
  equal 1 "$status"
  has busy "$output"
  rm is-slow
  pod delete "$POD"
  ! ocirun state "$POD.other"
}

@test "a second signal cuts the removal of a container short" {
  slow delete
  sed -i 's/sleep .*;/sleep 100;/' slow
  two_containers
  supervised --keep
  reaches .status running
  touch is-slow
  kill "$SUPERVISOR"
  eventually test -e in-delete
  local begun=$SECONDS
  kill "$SUPERVISOR"
  wait "$SUPERVISOR" || true
  ((SECONDS - begun < 50))
  equal true "$(jq '.containers[] | select(.name == "other") | .claimed' "data/pods/$POD/pod.json")"
  rm is-slow
  pod delete "$POD"
  ! ocirun state "$POD.other"
}

@test "a container whose start is given up has no exit status" {
  slow create
  touch is-slow
  two_containers
  supervised --keep --grace 40
  eventually test -e in-create
  kill "$SUPERVISOR"
  local rc=0
  wait "$SUPERVISOR" || rc=$?
  equal 1 "$rc"
  equal '[null,"waiting","was not started, because the pod was stopped"]' \
    "$(says '.containers[] | select(.name == "other") | [.exitCode, .status, .reason] | tojson')"
}
