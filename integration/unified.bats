# Features of the unified hierarchy alone: cgroup.subtree_control, threaded cgroups, delegation, the document's `unified`.
load lib/common

setup() {
  common_setup
  needs_v2 "the unified hierarchy's own rules"
}

unified() { config '.linux.resources.unified = '"$1"; }

@test "R-43 unified values are written as they are, after the converted ones, line by line" {
  needs_controller memory
  config '.linux.resources += {memory: {limit: 67108864}, pids: {limit: 10}}'
  unified '{"memory.high": "50331648", "pids.max": "77", "memory.min": "1048576"}'
  create
  equal 50331648 "$(<"$(cgroup memory)/memory.high")"
  equal 1048576 "$(<"$(cgroup memory)/memory.min")"
  equal 67108864 "$(<"$(cgroup memory)/memory.max")"
  equal 77 "$(<"$(cgroup pids)/pids.max")"
}

@test "R-43 a unified key with a slash, without a dot, of no controller or of no file is refused by its name" {
  local key
  for key in ../memory.max memory nosuch.max memory.nosuch cgroup.procs; do
    refused "$key" '.linux.resources.unified = {($key): "1"}' --arg key "$key"
  done
}

@test "R-43 a value that the kernel refuses is an error that names the file" {
  refused memory.high '.linux.resources.unified = {"memory.high": "plenty"}'
}

@test "R-43 controllers are enabled in all ancestors, which are removed again" {
  config '.linux.cgroupsPath = "/" + $id + "/a/b/c"' --arg id "$ID"
  config '.linux.resources.pids.limit = 50'
  create
  equal 50 "$(<"/sys/fs/cgroup/$ID/a/b/c/pids.max")"
  contains "/sys/fs/cgroup/$ID/cgroup.subtree_control" pids
  contains "/sys/fs/cgroup/$ID/a/b/cgroup.subtree_control" pids
  ocirun delete --force "$ID"
  [[ ! -e /sys/fs/cgroup/$ID ]]
}

@test "R-43 below a cgroup that holds processes a limit is refused with the reason, and nothing is left" {
  mkdir "/sys/fs/cgroup/$ID-busy"
  helper sleep 1000
  echo "$HELPER" >"/sys/fs/cgroup/$ID-busy/cgroup.procs"
  refused "/sys/fs/cgroup/$ID-busy holds processes" \
    '.linux.cgroupsPath = "/" + $id + "-busy/inner" | .linux.resources.pids.limit = 50' --arg id "$ID"
  stop_helpers
  eventually rmdir "/sys/fs/cgroup/$ID-busy"
}

@test "R-5 a threaded cgroup, and one below, are refused with the reason" {
  mkdir -p "/sys/fs/cgroup/$ID-domain/threads"
  echo threaded >"/sys/fs/cgroup/$ID-domain/threads/cgroup.type"
  refused threaded '.linux.cgroupsPath = "/" + $id + "-domain/threads"' --arg id "$ID"
  refused threaded '.linux.cgroupsPath = "/" + $id + "-domain/threads/inner"' --arg id "$ID"
  refused threaded '.linux.cgroupsPath = "/" + $id + "-domain/sibling"' --arg id "$ID"
  rmdir "/sys/fs/cgroup/$ID-domain/threads" "/sys/fs/cgroup/$ID-domain"
}

@test "R-6 a writable cgroup mount in a user namespace belongs to the container's user, and its limits do not" {
  local file
  user_namespace
  config '.mounts[6].options -= ["ro"] | .linux.resources.pids.limit = 50'
  create
  equal 100000 "$(stat -c %u "/sys/fs/cgroup/$ID")"
  for file in cgroup.procs cgroup.threads cgroup.subtree_control; do
    equal 100000 "$(stat -c %u "/sys/fs/cgroup/$ID/$file")"
  done
  equal 0 "$(stat -c %u "/sys/fs/cgroup/$ID/pids.max")"
  equal 0 "$(stat -c %u "/sys/fs/cgroup/$ID/cgroup.freeze")"
}

@test "R-6 a container manages cgroups of its own below what is delegated, and cannot lift its limit" {
  user_namespace
  config '.mounts[6].options -= ["ro"] | .linux.resources.pids.limit = 50'
  inside 'cd /sys/fs/cgroup && mkdir sub init && echo $$ >init/cgroup.procs && echo +pids >cgroup.subtree_control && echo 9 >sub/pids.max &&
    cat sub/pids.max; echo max >pids.max || cat pids.max'
  output_mentions $'9\n'
  output_mentions 50
}

@test "R-6 a read-only cgroup mount is not given away" {
  user_namespace
  create
  equal 0 "$(stat -c %u "/sys/fs/cgroup/$ID")"
}

@test "R-8 the container's first process is born in its cgroup, and enters it where clone3 cannot" {
  strace -qq -e trace=clone3 -e signal=none -o "$TMP/trace" "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  contains "$TMP/trace" CLONE_INTO_CGROUP
  contains "$(cgroup pids)/cgroup.procs" "$(init_pid)"
  ocirun delete --force "$ID"
  "$LIB/without" clone3 -- "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  contains "$(cgroup pids)/cgroup.procs" "$(init_pid)"
}

@test "R-7 delete removes what the container made below, with processes in it" {
  script 'mkdir -p /sys/fs/cgroup/a/b && sleep 1000 & echo $! >/sys/fs/cgroup/a/b/cgroup.procs; exec sleep 1000'
  config '.mounts[6].options -= ["ro"]'
  create_and_start
  eventually contains "/sys/fs/cgroup/$ID/cgroup.procs" "$(init_pid)"
  ocirun delete --force "$ID"
  [[ ! -e /sys/fs/cgroup/$ID ]]
}

@test "R-5 a cgroup that is there before with a process in it is refused" {
  mkdir "/sys/fs/cgroup/$ID"
  helper sleep 1000
  echo "$HELPER" >"/sys/fs/cgroup/$ID/cgroup.procs"
  refused "container's cgroup is not empty"
  stop_helpers
  eventually rmdir "/sys/fs/cgroup/$ID"
}
