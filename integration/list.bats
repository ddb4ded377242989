load lib/common

@test "list has runc's header and a row per container, sorted" {
  local first=$ID
  create_and_start
  ID=$first-a
  config '.linux.cgroupsPath = "/" + $id' --arg id "$ID"
  create
  run ocirun list
  succeeds
  [[ ${lines[0]} =~ ^ID\ +PID\ +STATUS\ +BUNDLE\ +CREATED\ +OWNER$ ]]
  [[ ${lines[1]} =~ ^$first\ +[0-9]+\ +running\ +$BUNDLE\ +[0-9]{4}-[0-9T:.-]+Z\ +root$ ]]
  [[ ${lines[2]} =~ ^$ID\ +[0-9]+\ +created\  ]]
  run ocirun list --quiet
  succeeds "$first"$'\n'"$ID"
  run ocirun list -q
  succeeds "$first"$'\n'"$ID"
}

@test "list --format json is one line with the keys in runc's order" {
  config '.annotations = {"a": "b"}'
  create
  run --separate-stderr ocirun list --format json
  succeeds
  equal 1 "${#lines[@]}"
  equal '["ociVersion","id","pid","status","bundle","rootfs","created","annotations","owner"]' "$(jq -c '.[0] | keys_unsorted' <<<"$output")"
  equal "$(init_pid)" "$(jq '.[0].pid' <<<"$output")"
  equal root "$(jq -r '.[0].owner' <<<"$output")"
  run ocirun list -f json
  succeeds
  run ocirun list --format xml
  exits 1 xml
}

@test "list of nothing is a header alone, or []" {
  mkdir "$ROOT"
  run ocirun list
  equal 1 "${#lines[@]}"
  run ocirun list -q
  succeeds ""
  run ocirun list --format json
  succeeds "[]"
}

@test "list of a --root that does not exist is an error, of the default one it is not" {
  run ocirun list
  exits 1 "$ROOT"
  [[ ! -e $ROOT ]]
  run "$OCIRUN" list --format json
  succeeds "[]"
}

@test "list shows a stopped container with pid 0 and skips what is no container" {
  program true
  create_and_start
  eventually status_is stopped
  touch "$ROOT/file"
  run ocirun list --format json
  succeeds
  equal "$ID 0 stopped" "$(jq -r '.[] | "\(.id) \(.pid) \(.status)"' <<<"$output")"
  rm "$ROOT/file"
}

# foreign_entries DIRECTORY: makes entries whose names could be ids, and which are no container's.
foreign_entries() {
  echo 1 >"$1/abc.pid"
  : >"$1/lock"
  ln -s /nonexistent "$1/link"
  ln -s "$BUNDLE" "$1/link-to-directory"
  mkfifo "$1/pipe"
  mkdir "$1/.hidden" "$1/foreign" "$1/not an id"
  : >"$1/foreign/file"
}

@test "list, list -q and list -f json show the same ids, and no foreign file of the state root" {
  create
  foreign_entries "$ROOT"
  mkdir "$ROOT/unfinished" # as after a killed create
  run ocirun list
  succeeds
  equal "ID $ID unfinished" "$(awk '{print $1}' <<<"$output" | xargs)"
  run ocirun list -q
  succeeds "$ID"$'\n'unfinished
  run ocirun list -f json
  succeeds
  equal "$ID unfinished" "$(jq -r '.[].id' <<<"$output" | xargs)"
  rm -r "$ROOT"/{abc.pid,lock,link,link-to-directory,pipe,.hidden,foreign,"not an id",unfinished}
}

@test "list goes on when one container's state is damaged, and delete --force removes that one" {
  local whole=$ID content
  create
  ID=$whole-damaged
  config '.linux.cgroupsPath = "/" + $id' --arg id "$ID"
  for content in "" '{"half":' garbage "$(printf 'x%.0s' {1..10000})"; do
    create
    printf %s "$content" >"$ROOT/$ID/state.json"
    run ocirun list --quiet
    succeeds
    output_mentions "$whole"
    run ocirun delete --force "$ID"
    succeeds
    [[ ! -e $ROOT/$ID && -z $(cgroups "$ID") ]]
  done
}

@test "ps --format json is an array of the container's pids on the host" {
  script 'sleep 1001 & wait'
  create_and_start
  eventually eval '[[ $(ocirun ps --format json "$ID" | jq length) == 2 ]]'
  run --separate-stderr ocirun ps --format json "$ID"
  equal "$(init_pid)" "$(jq '.[0]' <<<"$output")"
  equal 1 "${#lines[@]}"
  run ocirun ps -f json "$ID"
  succeeds
}

@test "ps shows the host's ps for the container's processes, and passes arguments on" {
  needs_ps
  create_and_start
  run ocirun ps "$ID"
  succeeds
  [[ ${lines[0]} == *PID* ]]
  equal 2 "${#lines[@]}"
  output_mentions "sleep 1000"
  run ocirun ps "$ID" -e -o pid,args
  succeeds
  equal 2 "${#lines[@]}"
  [[ ${lines[0]} =~ ^\ *PID\ COMMAND ]]
}

@test "ps of a stopped container is no error" {
  program true
  create_and_start
  eventually status_is stopped
  run ocirun ps --format json "$ID"
  succeeds "[]"
}

@test "pause stops every process, resume lets them go on; state and list say paused" {
  script 'while :; do echo tick; sleep 0.02; done >/ticks'
  create_and_start
  eventually contains "$BUNDLE/rootfs/ticks" tick
  ocirun pause "$ID"
  status_is paused
  local before
  before=$(wc -l <"$BUNDLE/rootfs/ticks")
  sleep 0.2
  equal "$before" "$(wc -l <"$BUNDLE/rootfs/ticks")"
  [[ $(ocirun list) == *paused* ]]
  ocirun resume "$ID"
  status_is running
  eventually has_more_ticks_than "$before"
}

has_more_ticks_than() { [[ $(wc -l <"$BUNDLE/rootfs/ticks") -gt $1 ]]; }

@test "pause and resume where it makes no sense are errors without effect" {
  create_and_start
  run ocirun resume "$ID"
  exits 1
  status_is running
  ocirun pause "$ID"
  run ocirun pause "$ID"
  exits 1
  status_is paused
  ocirun resume "$ID"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  run ocirun pause "$ID"
  exits 1
  run ocirun resume "$ID"
  exits 1
}

@test "a paused container takes SIGKILL, and is gone without resume" {
  create_and_start
  ocirun pause "$ID"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
}

@test "a paused container refuses delete without --force" {
  create_and_start
  ocirun pause "$ID"
  run ocirun delete "$ID"
  exits 1
  status_is paused
}

@test "delete --force removes a state whose file is a directory" {
  create_and_start
  rm "$ROOT/$ID/state.json"
  mkdir -p "$ROOT/$ID/state.json/one/two"
  touch "$ROOT/$ID/state.json/one/file"
  ocirun list | grep "$ID.*unknown"
  ocirun delete --force "$ID"
  [[ ! -e $ROOT/$ID ]]
}
