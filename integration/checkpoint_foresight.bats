# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# `checkpoint` tells what `restore` would refuse, while the container can still go on. What needs criu is skipped where `criu check`
# fails. In a machine: ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_foresight.bats
load lib/common
load lib/criu

# is_foretold SENTENCE: a checkpoint fails with it and leaves the container running; with --leave-running it is a warning.
is_foretold() {
  run ocirun checkpoint "$ID"
  exits 1 "the container runs on, because restore would refuse its images"
  output_mentions "$1"
  status_is running
  goes_on
  run ocirun checkpoint --leave-running "$ID"
  exits 0 "restore takes these images only with --trust-images"
  output_mentions "$1"
  goes_on
}

@test "a property that config.json does not give is foretold, and --trust-images restores it" {
  needs_criu
  config 'del(.process.oomScoreAdj)'
  run_counter
  echo -500 >"/proc/$(init_pid)/oom_score_adj"
  is_foretold "process $(init_pid): has an OOM score of -500"
  ocirun delete --force "$ID"
  restore_fails
  output_mentions "has an OOM score of -500"
  restore --trust-images
  goes_on
  equal -500 "$(<"/proc/$(init_pid)/oom_score_adj")"
}

@test "a file system of the host that the container has mounted is foretold" {
  needs_criu
  config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"] | unique)'
  mkdir -p "$BUNDLE/rootfs/opt"
  script 'mount -t devtmpfs none /opt || exit; i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; sleep 0.05; done'
  run_counting
  is_foretold 'a file system of type "devtmpfs" on "/opt": the host has only one'
}

@test "a container that config.json describes is saved without a word, also one that has mounted and has a file of the host as output" {
  needs_criu
  config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"] | unique)'
  mkdir -p "$BUNDLE/rootfs/opt"
  script 'mount -t tmpfs none /opt; i=0; while :; do i=$((i + 1)); echo $i; echo $i >/tmp/n; sleep 0.05; done'
  ocirun run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/printed" 2>&1 3>&- 4>&-
  eventually exists "$BUNDLE/rootfs/tmp/n"
  run ocirun checkpoint "$ID"
  exits 0 ""
  equal "" "$output"
  status_is stopped
}
