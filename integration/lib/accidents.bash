# shellcheck shell=bash disable=SC2016,SC2034 # jq's variables are not the shell's; tests use ours
# What goes wrong on purpose: a create that is killed half-way, and strangers in a container's cgroup.
# `load lib/accidents` after lib/common.

# waits_in_a_hook KIND: a create that waits for a hook of that kind; its pid is $CREATING.
waits_in_a_hook() {
  config '.hooks = {($k): [{path: "/bin/sleep", args: ["sleep", "1003"]}]}' --arg k "$1"
  helper "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID"
  CREATING=$HELPER
  eventually hook_runs
}

hook_runs() { pgrep -fx "sleep 1003" >/dev/null; }
no_hook_runs() { ! hook_runs; }

# create_is_killed: SIGKILL; its hook goes with it.
create_is_killed() {
  kill -KILL "$CREATING"
  wait "$CREATING" || true
  eventually no_hook_runs
}

# strangers_have_its_cgroup: the container's cgroups go, somebody makes new ones of their name, and $STRANGER is in them.
strangers_have_its_cgroup() {
  local cgroup
  remove_cgroups "$ID"
  make_cgroups "$ID"
  helper sleep 1000
  STRANGER=$HELPER
  for cgroup in $(cgroups "$ID"); do echo "$STRANGER" >"$cgroup/cgroup.procs" || true; done # cpuset: has no CPUs
}

# strangers_leave: they are unhurt until then.
strangers_leave() {
  [[ -d /proc/$STRANGER ]]
  kill -KILL "$STRANGER"
  wait "$STRANGER" || true
}
