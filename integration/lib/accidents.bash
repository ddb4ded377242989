# shellcheck shell=bash disable=SC2016,SC2034 # jq's variables are not the shell's; tests use ours
# Accidents for tests: a `create` that is killed half-way, and processes of others in a container's cgroup.
# `load lib/accidents` after lib/common.

# waits_in_a_hook KIND: starts a `create` that waits for a hook of KIND, in the background. Its pid is $CREATING.
waits_in_a_hook() {
  config '.hooks = {($k): [{path: "/bin/sleep", args: ["sleep", "1003"]}]}' --arg k "$1"
  helper "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID"
  CREATING=$HELPER
  eventually hook_runs
}

hook_runs() { pgrep -fx "sleep 1003" >/dev/null; }
no_hook_runs() { ! hook_runs; }

# create_is_killed: kills $CREATING by SIGKILL, and waits until its hook is dead too.
create_is_killed() {
  kill -KILL "$CREATING"
  wait "$CREATING" || true
  eventually no_hook_runs
}

# strangers_have_its_cgroup: removes the container's cgroups, makes new ones of the same name, and moves the process $STRANGER there.
strangers_have_its_cgroup() {
  local cgroup
  remove_cgroups "$ID"
  make_cgroups "$ID"
  helper sleep 1000
  STRANGER=$HELPER
  for cgroup in $(cgroups "$ID"); do echo "$STRANGER" >"$cgroup/cgroup.procs" || true; done # cpuset: has no CPUs
}

# strangers_leave: checks that $STRANGER is still alive, and ends it.
strangers_leave() {
  [[ -d /proc/$STRANGER ]]
  kill -KILL "$STRANGER"
  wait "$STRANGER" || true
}
