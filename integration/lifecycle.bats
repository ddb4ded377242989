load lib/common

@test "LC-1 create, start, kill and delete take a container through its states" {
  create
  status_is created
  start
  status_is running
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
  run ocirun state "$ID"
  exits 1 "does not exist"
}

@test "LC-2 create does not run the program" {
  script "touch /ran; sleep 1000"
  create
  sleep 0.1
  [[ ! -e $BUNDLE/rootfs/ran ]]
  start
  eventually exists "$BUNDLE/rootfs/ran"
}

@test "D-9 a config.json that is edited after create changes nothing" {
  script 'echo old >/said; sleep 1000'
  create
  script 'echo new >/said; sleep 1000'
  start
  eventually exists "$BUNDLE/rootfs/said"
  equal old "$(<"$BUNDLE/rootfs/said")"
}

@test "a bundle that vanished after create stops neither start nor delete" {
  create
  mv "$BUNDLE" "$BUNDLE.away"
  start
  status_is running
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
}

@test "state gives the specification's properties and those that runc's clients read" {
  config '.annotations = {"com.example.a": "b"}'
  create
  run --separate-stderr ocirun state "$ID"
  succeeds
  equal "" "$stderr"
  equal "$ID" "$(jq -r .id <<<"$output")"
  equal "$BUNDLE" "$(jq -r .bundle <<<"$output")"
  equal "$BUNDLE/rootfs" "$(jq -r .rootfs <<<"$output")"
  equal created "$(jq -r .status <<<"$output")"
  equal b "$(jq -r '.annotations["com.example.a"]' <<<"$output")"
  [[ $(jq -r .ociVersion <<<"$output") =~ ^1\.[0-9]+\.[0-9]+ ]]
  [[ $(jq -r .created <<<"$output") =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+Z$ ]]
  [[ $output == $'{\n  "ociVersion":'* ]]
  kill -0 "$(jq .pid <<<"$output")"
}

@test "state of a container without annotations validates against the specification's schema" {
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  create
  ocirun state "$ID" >"$TMP/state.json"
  "$LIB/validates" "$OCIRUN_SPEC_DIR/schema/state-schema.json" "$TMP/state.json"
}

@test "a stopped container has no pid" {
  program true
  create_and_start
  eventually status_is stopped
  equal 0 "$(ocirun state "$ID" | jq '.pid // 0')"
}

@test "OP-1 OP-3 OP-4 OP-5 an unknown id does not exist" {
  local command
  for command in state start kill delete pause resume ps; do
    run ocirun "$command" nobody
    exits 1 "does not exist"
  done
  run ocirun exec nobody true
  exits 255 "does not exist"
}

@test "delete --force of an unknown id succeeds silently" {
  run ocirun delete --force nobody
  succeeds ""
  run ocirun delete -f nobody
  succeeds ""
}

@test "OP-2 an id that is taken is refused and its owner is left alone" {
  create_and_start
  local pid
  pid=$(init_pid)
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "already exists"
  run ocirun run --bundle "$BUNDLE" "$ID"
  exits 1 "already exists"
  equal "$pid" "$(init_pid)"
  status_is running
}

@test "OP-2 an id outside the rules is refused and makes nothing" {
  local id
  for id in "" . .. ../evil a/b /a .hidden $'a\nb' "a b" %2e é "a*" "$(printf 'a%.0s' {1..2000})"; do
    attempt create --bundle "$BUNDLE" "$id"
    exits 1
    run ocirun state "$id"
    exits 1
    run ocirun delete --force "$id"
  done
  [[ ! -e $TMP/evil && ! -e $ROOT/a ]]
}

@test "OP-2 an id may hold letters, digits and _ + - ." {
  ID=$ID-A.b_c+d
  config 'del(.linux.cgroupsPath)'
  create
  status_is created
}

@test "OP-2 a bundle without config.json is refused by name" {
  rm "$BUNDLE/config.json"
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "config.json"
  output_mentions "$BUNDLE"
  attempt create --bundle /no/such/bundle "$ID"
  exits 1 /no/such/bundle
}

@test "--bundle is relative to the caller, and absent it is the caller's directory" {
  cd "$TMP"
  program echo hello
  run ocirun run --bundle bundle "$ID"
  succeeds hello
  cd "$BUNDLE"
  run ocirun run "$ID"
  succeeds hello
  run ocirun run -b ../bundle "$ID"
  succeeds hello
}

@test "run takes a bundle as a person types it, and makes the id from its name" {
  local typed
  mv "$BUNDLE" "$TMP/$ID"
  BUNDLE=$TMP/$ID
  program sh -c 'cat /proc/1/cgroup >/dev/null; echo hello'
  cd "$TMP"
  for typed in "./$ID" "$TMP/$ID" "$ID/" "$ID"; do
    run ocirun run "$typed"
    succeeds hello
  done
  cd "$BUNDLE"
  run ocirun run .
  succeeds hello
}

@test "OP-3 a second start has no effect and is an error" {
  create_and_start
  run ocirun start "$ID"
  exits 1
  status_is running
}

@test "OP-3 a stopped container cannot be started" {
  program true
  create_and_start
  eventually status_is stopped
  run ocirun start "$ID"
  exits 1 stopped
}

@test "P-1 a container without process is created, and start refuses" {
  config 'del(.process)'
  create
  status_is created
  run ocirun start "$ID"
  exits 1 process
}

@test "OP-4 a container that is only created takes a signal" {
  create
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
}

@test "OP-5 LC-11 delete of a running container is refused and has no effect" {
  create_and_start
  run ocirun delete "$ID"
  exits 1 --force
  status_is running
}

@test "OP-5 LC-11 delete of a created container is refused and names --force" {
  create
  run ocirun delete "$ID"
  exits 1 --force
  status_is created
  start
  status_is running
}

@test "delete --force ends a created, a running, a paused and a stopped container" {
  create
  ocirun delete --force "$ID"
  create_and_start
  ocirun delete --force "$ID"
  create_and_start
  ocirun pause "$ID"
  ocirun delete --force "$ID"
  program true
  create_and_start
  eventually status_is stopped
  ocirun delete --force "$ID"
  run ocirun state "$ID"
  exits 1
}

@test "LC-12 delete leaves a cgroup that it did not make, and removes nested ones that the container made" {
  local inner
  make_cgroups "$ID-parent"
  config '.linux.cgroupsPath = "/" + $id + "-parent/inner"' --arg id "$ID"
  create_and_start
  for inner in $(cgroups "$ID-parent/inner"); do mkdir -p "$inner/a/b"; done
  ocirun delete --force "$ID"
  [[ -z $(cgroups "$ID-parent/inner") ]]
  remove_cgroups "$ID-parent"
}

@test "LC-10 an init that is a zombie counts as stopped" {
  program true
  helper python3 -c '
import ctypes, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run(sys.argv[1:5] + ["--bundle", sys.argv[6], sys.argv[5]], check=True)
subprocess.run(sys.argv[1:4] + ["start", sys.argv[5]], check=True)
time.sleep(1000)' "$OCIRUN" --root "$ROOT" create "$ID" "$BUNDLE"
  eventually status_is stopped
  ocirun delete "$ID"
}

@test "run gives the container's output and exit status, and leaves nothing" {
  inside 'echo out; echo err >&2; exit 7'
  exits 7
  prints $'out\nerr'
  run ocirun state "$ID"
  exits 1 "does not exist"
}

@test "run exits with 128 and the signal that killed the container" {
  inside 'kill -KILL 1; sleep 0.1; exit 5'
  exits 5 # the kernel ignores the SIGKILL, which pid 1 has sent itself
  drop_namespace pid
  inside 'kill -KILL $$'
  exits 137
  inside 'kill -TERM $$'
  exits 143
}

@test "run forwards stdin to its end" {
  program cat
  run ocirun run --bundle "$BUNDLE" "$ID" <<<"from the caller"
  succeeds "from the caller"
}

@test "run forwards signals to the container and waits for it" {
  script 'trap "echo asked; exit 9" TERM; echo ready; while :; do sleep 0.01; done'
  "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 3>&- 4>&- &
  local pid=$! rc=0
  eventually contains "$TMP/out" ready
  kill -TERM "$pid"
  wait "$pid" || rc=$?
  equal 9 "$rc"
  contains "$TMP/out" asked
}

@test "run --keep leaves the stopped container" {
  program true
  run_container --keep
  succeeds
  status_is stopped
  ocirun delete "$ID"
}

@test "run --detach returns while the container runs" {
  ocirun run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  status_is running
  ocirun delete --force "$ID"
  ocirun run -d --bundle "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >/dev/null 2>&1
  equal "$(init_pid)" "$(<"$TMP/pid")"
}

@test "run of a program that does not exist leaves nothing" {
  program /no/such
  run_container
  exits 1 "no such file or directory"
  [[ ! -e $ROOT/$ID ]]
}

@test "--pid-file has the pid without a newline, relative to the caller" {
  cd "$TMP"
  create --pid-file init.pid
  equal "$(init_pid)" "$(<init.pid)"
  equal 0 "$(wc -l <init.pid)"
}

@test "a pid file that cannot be written is an error that leaves nothing" {
  attempt create --bundle "$BUNDLE" --pid-file /no/such/dir/pid "$ID"
  exits 1 /no/such/dir
  [[ ! -e $ROOT/$ID ]]
  [[ -z $(cgroups "$ID") ]]
}

@test "the container's process becomes the caller's child, leads a session, and its status can be reaped" {
  script 'exit 42'
  run "$LIB/subreaper" bash -c '"$0" "$@" create --bundle '"$BUNDLE $ID"' && "$0" "$@" start '"$ID" "$OCIRUN" --root "$ROOT"
  succeeds
  matches $'command 0'
  matches 'orphan ([0-9]+) 42 session=([0-9]+)'
  equal "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
  equal 1 "$(grep -c orphan <<<"$output")"
}

@test "LG-1 only 0, 1 and 2 are open in the container, whatever the caller left open" {
  script 'ls /proc/self/fd | tr "\n" " "'
  run ocirun run --bundle "$BUNDLE" "$ID" 7</etc/passwd 9<"$TMP"
  succeeds "0 1 2 3 " # 3: the directory that ls reads
}

@test "LG-2 --preserve-fds 2 hands over 3 and 4, not 5" {
  script 'cat <&3; cat <&4; cat <&5'
  run ocirun run --preserve-fds 2 --bundle "$BUNDLE" "$ID" 3<<<three 4<<<four 5<<<five
  output_mentions $'three\nfour'
  output_never_mentions five
}

@test "LG-2 --preserve-fds of a descriptor that is not open is an error" {
  attempt run --preserve-fds 40 --bundle "$BUNDLE" "$ID"
  exits 1
}

@test "the caller's environment does not reach the container" {
  program env
  SECRET=leak NOTIFY_SOCKET= _OCI_SYNCPIPE=3 run_container
  succeeds
  output_never_mentions leak
  output_never_mentions _OCI_SYNCPIPE
}

@test "signals that the caller ignores or blocks are back to normal in the container" {
  program grep -E "Sig(Ign|Blk)" /proc/self/status
  # 64 is the highest signal: its bit is the last one of SigIgn.
  run bash -c 'trap "" HUP USR1 QUIT 64; "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
  program sleep 1000
  create_and_start
  run bash -c 'trap "" HUP USR1 QUIT 64; "$@"' - "$OCIRUN" --root "$ROOT" exec "$ID" grep -E "Sig(Ign|Blk)" /proc/self/status
  succeeds $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
}

@test "of eight creates with one id at once exactly one wins" {
  local n pids=()
  for n in {1..8}; do
    { ocirun create --bundle "$BUNDLE" "$ID" && touch "$TMP/won.$n"; } </dev/null >"$TMP/out.$n" 2>&1 3>&- 4>&- &
    pids+=($!)
  done
  wait "${pids[@]}" || true
  equal 1 "$(compgen -G "$TMP/won.*" | wc -l)"
  status_is created
}

@test "R-5 a cgroup that holds another container is refused, and that container lives on" {
  create_and_start
  local first=$ID
  ID=$ID-b
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "container's cgroup is not empty: process $(ocirun state "$first" | jq .pid) (sleep)"
  output_mentions "in /sys/fs/cgroup/"
  output_mentions "--cgroup-manager=disabled"
  [[ ! -e $ROOT/$ID ]]
  ID=$first
  status_is running
}

@test "flags of engines that change little are accepted: --no-pivot, --no-new-keyring, --no-subreaper" {
  script 'echo fine'
  run_container --no-pivot
  succeeds fine
  run_container --no-new-keyring
  succeeds fine
  run_container --no-subreaper
  succeeds fine
  run_container -no-subreaper # with one dash, as go-runc does
  succeeds fine
}

@test "a relative --root lies below the working directory" {
  cd "$TMP"
  ocirun --root below/root create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  [[ -e $TMP/below/root/$ID && $(ls below) == root ]]
  ocirun --root below/root delete --force "$ID"
}

@test "an id whose foreground run was killed says so, with the command that removes what is left" {
  program sleep 1000
  "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&- &
  local attendant=$!
  eventually status_is running
  attempt run --bundle "$BUNDLE" "$ID"
  exits 1 "container with given ID already exists: $ID"
  [[ $output != *killed* ]]
  kill -KILL "$attendant"
  wait "$attendant" || true
  attempt run --bundle "$BUNDLE" "$ID"
  exits 1 "container with given ID already exists: $ID: the \`ocirun run\` that attended it, process $attendant, was killed"
  output_mentions "ocirun --root $ROOT delete --force $ID"
  status_is running
  ocirun delete --force "$ID"
}
