# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# `restore --dry-run`. See checkpoint.bats.
load lib/common
load lib/checkpoint

dry_run() { run ocirun restore --dry-run --bundle "$BUNDLE" "$@"; }

@test "restore --dry-run names all obstacles at once, and makes nothing" {
  mkdir -m 700 "$TMP/empty"
  create_and_start
  add_mount '{"destination": "/lost", "type": "bind", "source": "/nowhere/source", "options": ["bind"]}'
  config '.linux.netDevices = {"nodev7": {}} | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/run/agent", syscalls: [{names: ["swapon"], action: "SCMP_ACT_NOTIFY"}]}'
  run ocirun --criu /nowhere/criu restore --dry-run --bundle "$BUNDLE" --image-path "$TMP/empty" "$ID"
  exits 1 "a restore would fail: 7 obstacles"
  output_mentions "obstacle: /linux/seccomp/listenerPath: a container whose system calls an agent answers"
  output_mentions "there is no inventory.img: the directory holds no images of criu"
  output_mentions "obstacle: --criu /nowhere/criu: must name an executable file"
  output_mentions "obstacle: a container $ID is there and is running: choose another id"
  output_mentions "obstacle: /mounts/7: open the source /nowhere/source: no such file or directory"
  output_mentions "obstacle: /linux/netDevices: this host has no network device nodev7"
  output_mentions "obstacle: container's cgroup is not empty: process"
  equal "" "$(ls "$TMP/empty")"
  config '.process.cwd = 7'
  dry_run --image-path "$TMP/lost" restored
  exits 1 "obstacle: config.json: /process/cwd"
  output_mentions "$TMP/lost: no such file or directory"
  run ocirun state restored
  exits 1 "does not exist"
}

@test "restore --dry-run asks on when criu check has failed" {
  mkdir -m 700 "$TMP/empty"
  printf '#!/bin/sh\nexit 3\n' >"$TMP/criu"
  chmod 755 "$TMP/criu"
  run ocirun --criu "$TMP/criu" restore --dry-run --bundle "$BUNDLE" --image-path "$TMP/empty" "$ID"
  exits 1 "criu does not work under this kernel: $TMP/criu says \"exited with status 3\""
  output_mentions "criu ended without an answer"
}

@test "restore --dry-run succeeds where a restore would, and leaves the host as it was" {
  needs_criu
  run_counter
  ocirun checkpoint "$ID"
  local before
  before=$(ls checkpoint)
  dry_run --network-lock skip "$ID"
  succeeds "images, config.json and this host fit together"
  equal "$before" "$(ls checkpoint)"
  status_is stopped
  restore
  status_is running
}

@test "restore --dry-run finds differences between images and config.json" {
  needs_criu
  mkdir "$TMP/data"
  add_mount "{\"destination\": \"/data\", \"type\": \"bind\", \"source\": \"$TMP/data\", \"options\": [\"bind\"]}"
  run_counter
  ocirun checkpoint "$ID"
  cp "$BUNDLE/config.json" "$TMP/config.json"
  config 'del(.mounts[-1])'
  add_mount "{\"destination\": \"/elsewhere\", \"type\": \"tmpfs\", \"source\": \"tmpfs\"}"
  user_namespace
  config '.linux.namespaces += [{type: "time"}]'
  dry_run "$ID"
  exits 1 "the images have a mount of the host on /data that they call /data: config.json has no mount on that path"
  output_mentions "/mounts/7: the images have no mount on /elsewhere"
  output_mentions "the container of the images has no user namespace"
  output_mentions "the container of the images has no time namespace of its own"
  cp "$TMP/config.json" "$BUNDLE/config.json"
  cp -a checkpoint intact
  forge "core['mtype'] = 'AARCH64'; core['ti_aarch64'] = None; core.pop('ti_aarch64')"
  dry_run "$ID"
  exits 1 "the images are of a processor aarch64"
  cp -a intact/. checkpoint/
  forge_image "$(basename checkpoint/mountpoints-*.img)" \
    "[entry.update(mountpoint='/forged') for entry in images['entries'] if entry['mountpoint'].endswith('/shm')]"
  dry_run "$ID"
  exits 1 "the images have a mount on /forged that config.json does not have"
  cp -a intact/. checkpoint/
  forge_image cpuinfo.img "[entry.update(capability=[4294967295 for _ in entry['capability']]) for entry in images['entries'][0]['x86_entry']]"
  dry_run "$ID"
  exits 1 "the processor lacks what the images need"
  cp -a intact/. checkpoint/
  head -c 20 intact/core-1.img >checkpoint/core-1.img
  dry_run "$ID"
  exits 1 "core-1.img: the image is damaged"
}

@test "restore --dry-run knows images of a pre-dump, and the maps of a user namespace" {
  needs_criu
  user_namespace
  run_counter
  ocirun checkpoint --pre-dump --image-path "$TMP/one" "$ID"
  dry_run --image-path "$TMP/one" restored
  exits 1 "these are the images of a pre-dump"
  ocirun checkpoint --image-path "$TMP/two" --parent-path ../one "$ID"
  dry_run --image-path "$TMP/two" "$ID"
  succeeds "images, config.json and this host fit together"
  config '.linux.uidMappings[0].hostID = 200000'
  dry_run --image-path "$TMP/two" "$ID"
  exits 1 "the user namespace of the images maps other ids"
}
