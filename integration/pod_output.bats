# A supervisor spends at most a tenth of a CPU on the output of a container, obeys `stop` beside any output, and loses no line.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# containers NUMBER SCRIPT [LIMIT]: makes app.yaml of so many containers that run the script, each with such a limit of CPU.
containers() {
  local number
  {
    printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: shop}' spec: '  containers:'
    for ((number = 1; number <= $1; number++)); do
      printf '  - {name: c%s, image: base, command: [/bin/sh, -c], args: [%s]%s}\n' "$number" "$(jq -Rs . <<<"$2")" \
        "${3:+, resources: {limits: {cpu: $3\}\}}"
    done
  } >app.yaml
}

# has_written: each container has a log that is not empty.
has_written() {
  local log
  for log in "$TMP/data/pods/$POD/logs"/*.log; do [[ -s $log ]] || return 1; done
}

# cpu_ticks PID: the CPU time of the process until now, in clock ticks.
cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f12,13 | { read -r user system && echo $((user + system)); }; }

# costs_a_tenth NUMBER SCRIPT [LIMIT]: the supervisor of these containers spends at most a tenth of a CPU on the output of each. The time
# of the CPU counts: on a busy host a supervisor gets less. Five ticks are for the rest of its work, and for the rounding to ticks.
costs_a_tenth() {
  local supervisor ticks begun
  containers "$@"
  run_pod --detach
  eventually has_written
  supervisor=$(says .supervisor)
  begun=${EPOCHREALTIME/./} ticks=$(cpu_ticks "$supervisor")
  sleep 3
  ticks=$(($(cpu_ticks "$supervisor") - ticks)) begun=$((${EPOCHREALTIME/./} - begun))
  pod delete --force "$POD"
  echo "$ticks ticks in $begun us: $*"
  ((ticks - 5 <= $1 * begun * $(getconf CLK_TCK) / 10000000))
}

@test "the output of a container costs at most a tenth of a CPU: short lines, long lines, no lines, binary output" {
  costs_a_tenth 1 'exec yes'
  costs_a_tenth 1 'while :; do echo x; done'
  costs_a_tenth 1 'yes "" >&2 & exec yes ""'
  costs_a_tenth 1 'x=x; while [ ${#x} -lt 1000 ]; do x=$x$x; done; exec yes "$x"'
  costs_a_tenth 1 'exec cat /dev/zero'
  costs_a_tenth 1 'exec cat /dev/urandom'
}

@test "eight containers cost at most a tenth of a CPU each" {
  costs_a_tenth 8 'exec yes'
}

@test "containers with a limit of CPU cost no more" {
  needs_controller cpu
  costs_a_tenth 1 'exec yes' 50m
  costs_a_tenth 8 'exec yes' 50m
}

# stop_takes: stops app.yaml's pod with a grace period of one second, and prints how many microseconds that took.
stop_takes() {
  run_pod --detach
  eventually has_written
  local begun=${EPOCHREALTIME/./}
  pod stop --grace 1 "$POD" >/dev/null
  echo $((${EPOCHREALTIME/./} - begun))
  pod delete --force "$POD"
}

@test "eight containers that write without end do not delay the stop of their pod" {
  local try silent loud
  for try in 1 2 3; do # the host may be busy during one of the two stops
    containers 8 'trap "" TERM; echo; exec sleep 1000'
    silent=$(stop_takes)
    containers 8 'trap "" TERM; exec yes'
    loud=$(stop_takes)
    echo "try $try: $silent us without output, $loud us with it"
    ((loud >= 2 * silent)) || return 0
  done
  false
}

@test "a pod in the foreground whose output nobody reads stops" {
  containers 2 'trap "" TERM; exec yes'
  mkfifo unread
  exec 7<>unread
  ocirun pod run --data "$TMP/data" --images images --net none --name "$POD" app.yaml </dev/null >unread 2>&1 3>&- 4>&- 7>&- &
  local supervisor=$!
  eventually is_there
  reaches .status running
  eventually has_written
  timeout 60 "$OCIRUN" pod stop --data "$TMP/data" --grace 1 "$POD"
  exec 7>&-
  wait "$supervisor" || true
  equal "" "$(pod_names)"
}

@test "no line of a program that writes fast and ends is lost, and the log is rotated between lines" {
  containers 1 'seq 1 300000; seq 300001 600000 >&2; printf last'
  run_pod --detach --restart never
  reaches '.containers[0].status' exited
  { seq 1 600000 && echo last; } | sort >expected
  pod logs "$POD" 2>&1 | sort | cmp - expected
  local logs=("$TMP/data/pods/$POD/logs"/*.log*)
  ((${#logs[@]} >= 3))
  [[ -z $(cat "${logs[@]}" | grep -avE '^[0-9TZ:.-]{30} std(out|err) F ([0-9]+|last)$') ]]
}

@test "the program of a probe that writes without end costs at most a tenth of a CPU" {
  local supervisor ticks begun
  cat >app.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  containers:
  - name: app
    image: base
    command: [/bin/sh, -c, "echo ready; exec sleep 1000"]
    livenessProbe: {exec: {command: [/bin/sh, -c, exec yes]}, periodSeconds: 1, timeoutSeconds: 60}
END
  run_pod --detach
  supervisor=$(says .supervisor)
  eventually eval "pgrep -P $supervisor >/dev/null && has_written"
  sleep 1
  begun=${EPOCHREALTIME/./} ticks=$(cpu_ticks "$supervisor")
  sleep 3
  ticks=$(($(cpu_ticks "$supervisor") - ticks)) begun=$((${EPOCHREALTIME/./} - begun))
  echo "$ticks ticks in $begun us"
  ((ticks - 5 <= begun * $(getconf CLK_TCK) / 10000000))
}

@test "a line on the screen never ends inside a line of another container" {
  {
    printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: shop}' spec: '  containers:'
    echo '  - {name: a, image: base, command: [/bin/sh, -c, "x=x; while [ ${#x} -lt 200000 ]; do x=$x$x; done; printf %s $x; exec sleep 1000"]}'
    echo '  - {name: b, image: base, command: [/bin/sh, -c, "while :; do echo login failed >&2; sleep 0.1; done"]}'
  } >app.yaml
  mkfifo screen && exec 7<>screen
  "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --images images --net none --grace 1 --name "$POD" app.yaml \
    </dev/null >screen 2>&1 3>&- 4>&- 7>&- &
  local supervisor=$!
  eventually eval 'grep -q xxx "data/pods/$POD/logs/"*a.log && (($(grep -c login "data/pods/$POD/logs/"*b.log) > 20))'
  timeout 3 cat <&7 >shown || true
  kill "$supervisor" && wait "$supervisor" || true
  exec 7>&-
  grep -q xxx shown
  grep -q '^b | login failed$' shown
  run ! grep -q 'x.*login' shown
}

@test "logs of several pods, the last lines by -n, and --since a day" {
  container app 'echo one; echo two; sleep 1000'
  run_pod --detach
  local first=$POD
  eventually has_lines app 2
  POD=${first}b
  run_pod --detach
  eventually has_lines app 2
  equal "$first/app | two
${first}b/app | two" "$(pod logs -n 1 "$first" "${first}b")"
  equal $'one\ntwo' "$(pod logs --since "$(date -d yesterday +%F)" "$POD")"
  equal "" "$(pod logs --since "$(date -d 'now + 2 days' +%F)" "$POD")"
  run pod logs -f "$first" "$POD"
  equal 1 "$status"
  has "--follow follows one container, and these are $first/app, $POD/app: name one POD, and -c CONTAINER" "$output"
  run pod logs "$first" absent
  equal 1 "$status"
  lacks one "$output"
}
lacks() { [[ $2 != *"$1"* ]]; }
