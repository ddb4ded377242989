# The annotation org.ocirun.record-exit: `state` and `inspect` tell when and how a container ended.
load lib/common
source "$LIB/cgroup.bash"

recording() { config '.annotations["org.ocirun.record-exit"] = "true"'; }
watchers() { grep -lx ocirun:watch /proc/[0-9]*/comm 2>/dev/null | wc -l; }
has_watcher() { [[ $(watchers) == 1 ]]; }
no_watchers() { [[ $(watchers) == 0 ]]; }
has_finished() { ocirun state "$ID" | jq -e 'has("finished")' >/dev/null; }
of_state() { ocirun state "$ID" | jq -r "$1"; }
# tells_status: the kernel tells the exit status to others than the parent (Linux 6.15).
tells_status() { kernel_is 6 15; }

@test "state and inspect tell the exit status, and when the program began and ended" {
  recording
  script 'sleep 0.3; exit 3'
  create
  eventually has_watcher
  equal null "$(of_state .started)"
  start
  eventually has_finished
  eventually no_watchers
  if tells_status; then equal 3 "$(of_state .exitStatus)"; fi
  equal "false null" "$(of_state '"\(.oomKilled) \(.exitSignal)"')"
  [[ $(of_state .created) < $(of_state .started) && $(of_state .started) < $(of_state .finished) ]]
  eventually no_watchers
  run ocirun inspect "$ID"
  succeeds
  output_mentions "$ID: stopped: nothing to compare"
  if tells_status; then grep -qE "exit status +3" <<<"$output"; fi
  output_mentions "finished"
  output_mentions "CPU time"
  equal stopped "$(of_state .status)"
  ocirun list --format json | jq -e '.[0].finished' >/dev/null
}

@test "a signal and the limit of memory are told apart" {
  tells_status || skip "the kernel does not tell the status (before Linux 6.15)"
  recording
  create_and_start
  ocirun kill "$ID" KILL
  eventually has_finished
  eventually no_watchers
  equal "9 null false" "$(of_state '"\(.exitSignal) \(.exitStatus) \(.oomKilled)"')"
  ocirun delete "$ID"
  needs_controller memory
  config '.linux.resources.memory.limit = 33554432'
  script "exec $(eats 100)"
  create_and_start
  eventually has_finished
  eventually no_watchers
  equal "9 true" "$(of_state '"\(.exitSignal) \(.oomKilled)"')"
  run ocirun inspect "$ID"
  output_mentions "the out-of-memory killer has ended it"
}

@test "a container that is deleted leaves no process that waits; without the annotation there is none" {
  recording
  create_and_start
  eventually has_watcher
  ocirun delete --force "$ID"
  eventually no_watchers
  config 'del(.annotations)'
  create_and_start
  equal 0 "$(watchers)"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  equal null "$(of_state .finished)"
  run ocirun inspect "$ID"
  output_mentions "not recorded: the annotation org.ocirun.record-exit"
}

@test "a value that is neither true nor false is refused; a create that fails leaves no process that waits" {
  refused '/annotations/org.ocirun.record-exit: "yes": must be "true" or "false"' '.annotations["org.ocirun.record-exit"] = "yes"'
  refused '/annotations/org.ocirun.recordexit: ocirun has no such annotation; it has' '.annotations["org.ocirun.recordexit"] = "true"'
  recording
  mkdir "$TMP/pid"
  run ocirun create --bundle "$BUNDLE" --pid-file "$TMP/pid" "$ID"
  exits 1 pid-file
  eventually no_watchers
}
