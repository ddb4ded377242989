# Concurrent commands on one container: each does its work or says why it cannot, and together they leave nothing behind.
load lib/common

@test "of 64 creates of one id one wins, and the others say that it exists" {
  local number pids=() winners=0
  for ((number = 0; number < 64; number++)); do
    "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/said.$number" 2>&1 3>&- 4>&- &
    pids+=($!)
  done
  for ((number = 0; number < 64; number++)); do
    if wait "${pids[number]}"; then
      winners=$((winners + 1))
    else
      contains "$TMP/said.$number" "ocirun: create $ID: container with given ID already exists: $ID" || { cat "$TMP/said.$number" && false; }
    fi
  done
  equal 1 "$winners"
  status_is created
  ocirun start "$ID"
  status_is running
}

# refusals: the messages with which a command may end when another command was faster.
refusals='container with given ID already exists|container does not exist|container is incomplete|process was killed by signal 9 .SIGKILL. while|cannot (start|exec in|delete|pause|resume|kill) .*|container not running|start.sock: connection refused|init was killed before it could execute|container not (paused|running or created)|another ocirun command|container was deleted while it was made'

# work SECONDS SEED: one worker: random commands on four containers. Unexpected results go to $TMP/unexpected.SEED.
work() {
  local until=$((SECONDS + $1)) id command said status
  RANDOM=$2
  while [[ $SECONDS -lt $until ]]; do
    id=$ID-$((RANDOM % 4))
    case $((RANDOM % 8)) in
      0 | 1) command=(create --bundle "$BUNDLE" "$id") ;;
      2) command=(start "$id") ;;
      3) command=(exec "$id" true) ;;
      4) command=(kill "$id" KILL) ;;
      5) command=(delete "$id") ;;
      6) command=(delete --force "$id") ;;
      7) command=(state "$id") ;;
    esac
    status=0
    timeout -k 1 60 "$OCIRUN" --root "$ROOT" "${command[@]}" </dev/null >"$TMP/out.$2" 2>&1 3>&- 4>&- || status=$?
    said=$(<"$TMP/out.$2")
    echo "${command[0]} $status" >>"$TMP/done.$2"
    # 137: exec's program was killed (SIGKILL) together with its container.
    [[ $status == 0 || $said =~ $refusals || (${command[0]} == exec && $status == 137 && -z $said) ]] || echo "${command[*]}: $status: $said" >>"$TMP/unexpected.$2"
  done
}

@test "eight workers who create, start, enter, kill and delete four containers at random only get answers" {
  [[ ${OCIRUN_TEST_SECONDS:-} ]] || skip "a random schedule is for ./dev test --all, or OCIRUN_TEST_SECONDS=15"
  local worker pids=() seconds=$OCIRUN_TEST_SECONDS
  config 'del(.linux.cgroupsPath)' # so that each container has the default cgroup, named after its id
  for ((worker = 1; worker <= 8; worker++)); do
    work "$seconds" "$worker" &
    pids+=($!)
  done
  wait "${pids[@]}"
  if compgen -G "$TMP/unexpected.*" >/dev/null; then sort "$TMP"/unexpected.* | uniq -c | sort -rn | head -n 20; fi
  sort "$TMP"/done.* | uniq -c >"$TMP/counts"
  for worker in create start exec kill delete state; do
    contains "$TMP/counts" "$worker 0" || { echo "no $worker succeeded" && cat "$TMP/counts" && false; }
  done
  for worker in 0 1 2 3; do ocirun delete --force "$ID-$worker"; done
  ! compgen -G "$TMP/unexpected.*"
}

@test "a start that is killed or interrupted can be given again" {
  local signal tries
  for signal in INT TERM KILL; do
    create
    for ((tries = 0; tries < 10; tries++)); do
      "$OCIRUN" --root "$ROOT" start "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&- &
      kill -"$signal" $! 2>/dev/null || true
      wait $! || true
    done
    # Init may still execute its program after the `start` that released it was killed, also after this look.
    if [[ $(ocirun state "$ID" | jq -r .status) != running ]]; then
      attempt start "$ID"
      [[ $status == 0 || $output == *"cannot start a container that is running"* ]]
    fi
    status_is running
    ocirun delete --force "$ID"
  done
}

@test "a create whose directory is deleted before it has its lock says so" {
  meets_a_delete_at flock:delay_enter=1s create --bundle "$BUNDLE" "$ID"
  exits 1 "the container was deleted while it was made"
}

@test "a delete that stops at any file leaves no state whose other files are missing" {
  local count=0
  status=1
  while [[ $status != 0 ]]; do
    count=$((count + 1))
    create_and_start
    ocirun kill "$ID" KILL
    eventually status_is stopped
    run strace -o "$TMP/trace" -e trace=unlinkat -e "inject=unlinkat:signal=KILL:when=$count" "$OCIRUN" --root "$ROOT" delete "$ID"
    [[ $status == 0 ]] || is_told_that_it_goes
  done
  [[ $count -gt 7 ]] # at least one more than the seven files of a state directory
}

is_told_that_it_goes() {
  attempt exec "$ID" true
  [[ $status == 255 && $output =~ $refusals ]] || { cat "$TMP/trace" && echo "$output" && false; }
  ocirun delete --force "$ID"
  [[ ! -e $ROOT/$ID ]]
}

@test "a process that got the number of a dead init is not the container" {
  local pid
  create_and_start
  pid=$(init_pid)
  ocirun kill "$ID" KILL
  eventually is_gone "/proc/$pid"
  # The sandbox has a pid namespace of its own, where the next pid can be chosen.
  eventually takes_number "$pid"
  attempt kill "$ID" KILL
  exits 1 "container not running"
  equal stopped "$(ocirun state "$ID" | jq -r .status)"
  attempt exec "$ID" true
  exits 255 stopped
  ocirun delete --force "$ID"
  kill -0 "$STRANGER"
  kill -KILL "$STRANGER"
  wait "$STRANGER" || true
}

takes_number() {
  echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
  sleep 1000 3>&- 4>&- &
  STRANGER=$!
  [[ $STRANGER == "$1" ]] && return 0
  kill -KILL "$STRANGER"
  wait "$STRANGER" || true
  return 1
}
