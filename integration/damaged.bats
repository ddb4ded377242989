# Damaged files in the state directory: a message names each, other containers are still listed, and `delete --force` removes
# everything in all cases.
load lib/common
load lib/accidents

ways=(empty half garbage mebibyte huge nul wrong-types array deep directory full-directory link loop fifo socket device unreadable foreign gone)

# damage FILE WAY: damages a file of the container's state directory in one of the ways.
damage() {
  local file=$ROOT/$ID/$1 kept=$TMP/whole
  cp "$file" "$kept"
  rm "$file"
  case $2 in
    empty) : >"$file" ;;
    half) head -c $(($(stat -c %s "$kept") / 2)) "$kept" >"$file" ;;
    garbage) head -c 3000 "$OCIRUN" >"$file" ;;
    mebibyte) head -c 1048576 "$OCIRUN" >"$file" ;;
    huge) sed -E 's/: ?[0-9]+/: 99999999999999999999999999/g' "$kept" >"$file" ;;
    nul) { head -c 20 "$kept"; printf '\0'; tail -c +21 "$kept"; } >"$file" ;;
    wrong-types) sed -E 's/: ?[0-9]+/: "text"/g' "$kept" >"$file" ;;
    array) echo '[]' >"$file" ;;
    deep) printf '[%.0s' {1..20000} >"$file" ;;
    directory) mkdir "$file" ;;
    full-directory) mkdir -p "$file/one/two" && echo text >"$file/one/two/file" ;;
    link) ln -s /etc/passwd "$file" ;;
    loop) ln -s "$1" "$file" ;;
    fifo) mkfifo "$file" ;;
    socket) python3 -c 'import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).bind(sys.argv[2])' "$ROOT/$ID" "$1" ;;
    device) mknod "$file" c 1 5 ;; # /dev/zero, which has no end of file
    unreadable) install -m 000 "$kept" "$file" ;;
    foreign) install -o 1000 -g 1000 -m 600 "$kept" "$file" ;;
    gone) ;;
  esac
  UNCHANGED=0
  if [[ -f $file ]] && cmp -s "$file" "$kept"; then UNCHANGED=1; fi
}

# is_whole WAY: root can read the file in spite of this damage, or the damage has not changed the file.
is_whole() { [[ $1 == unreadable || $1 == foreign || $UNCHANGED == 1 ]]; }

# is_removed PID: `delete --force` removes the container with its process and cgroup, and the other container still runs.
is_removed() {
  local pid=$1
  run timeout 20 "$OCIRUN" --root "$ROOT" delete --force "$ID"
  succeeds
  [[ ! -e $ROOT/$ID ]] || { echo "the state is left"; return 1; }
  equal "" "$(cgroups "$ID")"
  eventually is_gone "/proc/$pid"
}

# each_way FILE CHECK: for each way, damages the file of a running container and calls CHECK WAY.
each_way() {
  local way pid other=$ID-other mine=$ID
  config '.linux.cgroupsPath = "/" + $id' --arg id "$other"
  ID=$other
  create
  ID=$mine
  config '.linux.cgroupsPath = "/" + $id' --arg id "$mine"
  for way in "${ways[@]}"; do
    create_and_start
    pid=$(init_pid)
    damage "$1" "$way"
    echo "$1: $way" # printed first: a CHECK with || does not stop at its first failure
    "$2" "$way"
    lists_both "$other"
    is_removed "$pid"
  done
  ID=$other
  status_is created
}

lists_both() {
  run timeout 20 "$OCIRUN" --root "$ROOT" list --format json
  succeeds
  equal created "$(jq -r --arg id "$1" '.[] | select(.id == $id).status' <<<"$output")"
  LISTED=$(jq -r --arg id "$ID" '.[] | select(.id == $id).status' <<<"$output")
  [[ -z ${EXPECTED:-} ]] || equal "$EXPECTED" "$LISTED"
}

# refuses_by_name WORD…: the command fails with status 1 and a message about the damaged container.
refuses_by_name() {
  run timeout 20 "$OCIRUN" --root "$ROOT" "$@"
  exits 1 "ocirun: $1 $ID: "
  [[ ${#lines[@]} == 1 && ${#output} -gt 60 && ${#output} -lt 1000 ]] || fail_with_output
}

state_is_told() {
  local command
  if is_whole "$1"; then
    EXPECTED=running
    status_is running
    return
  fi
  EXPECTED=unknown
  for command in state start kill delete pause; do
    refuses_by_name "$command" "$ID"
    output_mentions "delete --force $ID"
  done
}

@test "a damaged state.json is an unknown container that delete --force removes" { each_way state.json state_is_told; }

EXPECTED_RUNNING() {
  EXPECTED=running
  status_is running
}

@test "a damaged intent.json is no matter once the container exists" { each_way intent.json EXPECTED_RUNNING; }

config_is_told() {
  EXPECTED_RUNNING
  is_whole "$1" || {
    run timeout 20 "$OCIRUN" --root "$ROOT" exec "$ID" true
    exits 255 "ocirun: exec $ID: "
  }
}

@test "a damaged config.json is told by exec, and and delete --force still removes everything" { each_way config.json config_is_told; }

@test "a damaged seccomp.bpf is told by exec, which never runs without its filter" {
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["kexec_load"], action: "SCMP_ACT_ERRNO"}]}'
  ways=(empty half garbage mebibyte nul array deep directory full-directory link loop fifo socket device unreadable foreign gone)
  each_way seccomp.bpf filter_is_told
}

filter_is_told() {
  EXPECTED_RUNNING
  run timeout 20 "$OCIRUN" --root "$ROOT" exec "$ID" true
  if is_whole "$1"; then succeeds; else exits 255 "ocirun: exec $ID: "; fi
}

@test "a damaged resources.json is told by update" {
  updated() {
    EXPECTED_RUNNING
    run timeout 20 "$OCIRUN" --root "$ROOT" update --pids-limit 30 "$ID"
    if is_whole "$1" || [[ $1 == gone ]]; then succeeds; else exits 1 "ocirun: update $ID: "; fi
  }
  eval "plain_$(declare -f damage)"
  damage() {
    ocirun update --pids-limit 40 "$ID"
    plain_damage "$@"
  }
  each_way resources.json updated
}

@test "a start.sock that is a file, a directory or a link fails start, and delete --force removes all" {
  local way pid
  for way in empty full-directory link fifo; do
    create
    pid=$(init_pid)
    damage start.sock "$way" 2>/dev/null || damage_socket "$way"
    run timeout 20 "$OCIRUN" --root "$ROOT" start "$ID"
    exits 1 "start.sock"
    is_removed "$pid"
  done
}

@test "a state directory that is a file or a link is no container, and hides no other" {
  local way
  create
  for way in file link; do
    case $way in
      file) echo text >"$ROOT/$ID-odd" ;;
      link) ln -s "$ROOT/$ID" "$ROOT/$ID-odd" ;;
    esac
    run ocirun list --quiet
    succeeds
    output_mentions "$ID"
    run ocirun state "$ID-odd"
    exits 1 "ocirun: state $ID-odd: $ROOT/$ID-odd is a ${way/link/symlink}, not the directory of a container"
    run ocirun delete --force "$ID-odd"
    exits 1 "ocirun: delete $ID-odd: $ROOT/$ID-odd is a ${way/link/symlink}, not the directory of a container, so that no container can have this id: remove it"
    run ocirun create --bundle "$BUNDLE" "$ID-odd"
    exits 1 "$ROOT/$ID-odd is a ${way/link/symlink}, not the directory of a container"
    rm "$ROOT/$ID-odd"
    status_is created
  done
}

# A `create` that was killed leaves no state.json; here its intent.json is damaged too.
@test "with state.json and intent.json both damaged delete --force still removes the state" {
  create
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
  mkdir -m 700 "$ROOT/$ID"
  echo '{' >"$ROOT/$ID/state.json"
  echo '{' >"$ROOT/$ID/intent.json"
  equal unknown "$(ocirun list --format json | jq -r '.[].status')"
  run ocirun delete --force "$ID"
  succeeds
}

@test "a directory that is no container's state is not removed, whatever --root says" {
  mkdir -p "$ROOT/people/letters" "$ROOT/bundle/rootfs" "$ROOT/other"
  echo dear >"$ROOT/people/letters/one"
  cp "$BUNDLE/config.json" "$ROOT/bundle/"
  echo '{"id": "other", "init_process_pid": 1}' >"$ROOT/other/state.json" # the state of another runtime
  mkfifo "$ROOT/other/exec.fifo"
  chmod 700 "$ROOT"
  find "$ROOT" | sort >"$TMP/before"
  for ID in people bundle other; do
    attempt delete --force "$ID"
    exits 1 "$ROOT/$ID is no container's state: it holds"
    attempt delete "$ID"
    exits 1
  done
  find "$ROOT" | sort | diff "$TMP/before" -
  rm -r "$ROOT"/{people,bundle,other}
  mkdir "$ROOT/empty" # a `create` that was killed early leaves an empty directory
  attempt delete --force empty
  succeeds
  [[ ! -e $ROOT/empty ]]
}

# damaged_both WAY: damages intent.json and state.json.
damaged_both() {
  damage intent.json "$1"
  damage state.json "$1"
}

@test "with state.json and intent.json both damaged or gone the container's cgroup is found by its mark" {
  local way pid
  for way in empty half garbage array directory link gone; do
    create_and_start
    pid=$(init_pid)
    damaged_both "$way"
    echo "$way"
    is_removed "$pid"
    output_mentions "the cgroup /$ID, which has the container's mark, is removed"
  done
}

@test "with all files damaged the cgroup is found wherever config.json had it, with the parents that were made for it" {
  local pid
  config '.linux.cgroupsPath = $p' --arg p "/$ID-up/mid/low"
  create_and_start
  pid=$(init_pid)
  damaged_both garbage
  damage config.json garbage
  is_removed "$pid"
  equal "" "$(cgroups "$ID-up")"
}

@test "what a container writes on cgroups below its own keeps nobody from finding it" {
  local pid top
  create_and_start
  pid=$(init_pid)
  for top in $(cgroups "$ID"); do
    mkdir "$top/below"
    python3 - "$top" <<'PYTHON'
import os, sys
for name in os.listxattr(sys.argv[1]):
    mark = os.getxattr(sys.argv[1], name)
    os.setxattr(sys.argv[1] + "/below", name, mark)
    os.setxattr(sys.argv[1] + "/below", "user.ocirun.container", mark)
PYTHON
  done
  damaged_both empty
  is_removed "$pid"
}

@test "of two containers of one id in two state roots each finds its own" {
  local pid other_pid
  create_and_start
  pid=$(init_pid)
  config '.linux.cgroupsPath = $p' --arg p "/$ID-other"
  ROOT=$ROOT-other create_and_start
  other_pid=$(ROOT=$ROOT-other init_pid)
  damaged_both empty
  is_removed "$pid"
  [[ -d /proc/$other_pid ]]
  "$OCIRUN" --root "$ROOT-other" delete --force "$ID"
  eventually is_gone "/proc/$other_pid"
  rmdir "$ROOT-other"
}

# with_strangers: the state directory of a `create` that was killed after it had written intent.json and before it made a cgroup. The
# process $STRANGER is in a cgroup of that path.
with_strangers() {
  waits_in_a_hook createRuntime
  create_is_killed
  eventually eval '[[ -z $(cat $(cgroups "$ID" | sed s,$,/cgroup.procs,)) ]]'
  strangers_have_its_cgroup
}

@test "a state that could not be read again is not written: create refuses annotations that are too long" {
  python3 - "$BUNDLE/config.json" <<'PYTHON'
import sys
text = open(sys.argv[1]).read().rstrip()
open(sys.argv[1], "w").write(text[:-1] + ', "annotations": {"a": "' + "\x7f" * 2900000 + '"}}')
PYTHON
  refused "/annotations: the container's record would have"
}

@test "a bundle whose path is not UTF-8 is refused: its record would name another one" {
  mv "$BUNDLE" "$BUNDLE"$'\xff'
  run ocirun create --bundle "$BUNDLE"$'\xff' "$ID" </dev/null
  exits 1 "must be UTF-8, as the container's state is JSON: rename it"
  [[ ! -e $ROOT/$ID ]]
}

@test "who is in a cgroup that a killed create has not made is left alone" {
  with_strangers
  attempt delete --force "$ID"
  succeeds
  output_mentions "the cgroup /$ID does not belong to this container, or no longer: it is left alone"
  [[ ! -e $ROOT/$ID ]]
  strangers_leave
  remove_cgroups "$ID"
}

@test "where no mark tells whose the processes are that stand in the way, delete --force names their cgroup" {
  with_strangers
  damage intent.json empty
  attempt delete --force "$ID"
  exits 1 "the processes in the cgroup /$ID may belong to another container: check and end them"
  strangers_leave
  attempt delete --force "$ID"
  succeeds
  output_mentions "no cgroup has the container's mark"
  remove_cgroups "$ID"
}

@test "a mark that a container can write says nothing to root" {
  local top pid
  create_and_start
  pid=$(init_pid)
  for top in $(cgroups "$ID"); do
    python3 - "$top" <<'PYTHON'
import os, sys
try:
    mark = os.getxattr(sys.argv[1], "trusted.ocirun.container")
    os.removexattr(sys.argv[1], "trusted.ocirun.container")
    os.setxattr(sys.argv[1], "user.ocirun.container", mark)
except OSError: # the mark is in one of both attributes
    pass
PYTHON
  done
  damaged_both empty
  attempt delete --force "$ID"
  exits 1 "may belong to another container: check and end them"
  kill -KILL "$pid"
  eventually is_gone "/proc/$pid"
  attempt delete --force "$ID"
  succeeds
  remove_cgroups "$ID"
}

@test "without a cgroup too delete --force ends a container whose state.json is empty or gone" {
  local way pid
  config 'del(.linux.cgroupsPath, .linux.resources)'
  for way in empty gone; do
    ocirun --cgroup-manager disabled create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
    start
    pid=$(init_pid)
    damage state.json "$way"
    echo "$way"
    is_removed "$pid"
  done
}

@test "delete --force of a create that was killed in a hook removes the parents of its cgroup, and no others" {
  config '.linux.cgroupsPath = $p' --arg p "/$ID-up/mid/$ID"
  waits_in_a_hook createRuntime
  [[ -n $(cgroups "$ID-up/mid/$ID") ]]
  create_is_killed
  ocirun delete --force "$ID"
  equal "" "$(cgroups "$ID-up")"
  make_cgroups "$ID-up"
  waits_in_a_hook createRuntime
  create_is_killed
  ocirun delete --force "$ID"
  equal "" "$(cgroups "$ID-up/mid")"
  [[ -n $(cgroups "$ID-up") ]]
  remove_cgroups "$ID-up"
}

@test "delete --force while create waits for a createContainer hook ends both" {
  waits_in_a_hook createContainer
  attempt delete --force "$ID"
  succeeds
  [[ ! -e $ROOT/$ID ]]
  equal "" "$(cgroups "$ID")"
  eventually no_hook_runs
  status=0
  wait "$CREATING" || status=$?
  output=$(<"$TMP/helper.log")
  exits 1 "ocirun: create $ID: "
}

@test "the hook of a create that is killed dies with it" {
  local kind
  for kind in prestart createRuntime createContainer; do
    echo "$kind"
    waits_in_a_hook "$kind"
    create_is_killed
    eventually no_hook_runs
    ocirun delete --force "$ID"
  done
}
