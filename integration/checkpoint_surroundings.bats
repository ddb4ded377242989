# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# What a restored container has around it: the modes of cgroups, a terminal of the host, an empty network. What needs criu is skipped
# where `criu check` fails. In a machine: ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_surroundings.bats
load lib/common
load lib/criu

@test "restore --manage-cgroups-mode: ignore joins the container's cgroup, full takes the limits of cgroup v1, strict is refused" {
  needs_criu
  drop_namespace cgroup
  config '.linux.namespaces += [{type: "cgroup"}] | .linux.resources.memory.limit = 134217728'
  counter
  run_counter
  ocirun update --memory 67108864 "$ID"
  ocirun checkpoint --manage-cgroups-mode full "$ID"
  restore_fails --manage-cgroups-mode strict
  mentions "give soft, full or ignore"
  restore --manage-cgroups-mode ignore
  in_cgroup "/$ID"
  if ! has_v1 memory; then equal 0::/ "$(ocirun exec "$ID" cat /proc/self/cgroup)"; fi
  goes_on
  if has_v1 memory; then
    local limit=/sys/fs/cgroup/memory/$ID/memory.limit_in_bytes
    equal 134217728 "$(<"$limit")"
    ocirun delete --force "$ID"
    restore --manage-cgroups-mode full
    equal 67108864 "$(<"$limit")"
    goes_on
  fi
}

# on_terminal FILE COMMAND…: runs ocirun COMMAND in the background on a terminal of its own, whose input is $TMP/keys; FILE has its output.
on_terminal() {
  local command
  printf -v command '%q ' "$OCIRUN" --root "$ROOT" "${@:2}"
  helper bash -c 'exec script -qfc "$1" "$2" <"$3"' _ "$command" "$1" "$TMP/keys"
}

@test "restore --shell-job gives the program the terminal of restore" {
  needs_criu
  script 'echo before; read -r line; echo "after $line"; sleep 1000'
  mkfifo "$TMP/keys"
  exec 9<>"$TMP/keys"
  on_terminal "$TMP/first" run --bundle "$BUNDLE" "$ID"
  eventually contains "$TMP/first" before
  run ocirun checkpoint "$ID"
  exits 1 "give --shell-job"
  ocirun checkpoint --shell-job "$ID"
  eventually is_absent
  on_terminal "$TMP/second" restore --shell-job --bundle "$BUNDLE" "$ID"
  eventually status_is running
  echo word >&9
  exec 9>&-
  eventually contains "$TMP/second" "after word"
  ocirun kill "$ID" KILL
  eventually is_absent
}

@test "--empty-ns network: what is in the network namespace is neither saved nor restored" {
  needs_criu
  counter
  run_counter
  nsenter --net --target "$(init_pid)" ip address add 10.9.9.9/32 dev lo
  ocirun checkpoint "$ID"
  restore
  goes_on
  run grep 10.9.9.9 "/proc/$(init_pid)/net/fib_trie"
  succeeds
  ocirun checkpoint --empty-ns network --image-path "$TMP/empty" "$ID"
  restore --empty-ns network --image-path "$TMP/empty"
  goes_on
  equal 0 "$(grep -c 10.9.9.9 "/proc/$(init_pid)/net/fib_trie" || true)"
}
