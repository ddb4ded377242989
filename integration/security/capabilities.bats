# Attacks by privileges that outlive their purpose, and by writable cgroups.
# shellcheck disable=SC2016 # what is quoted runs in containers
load harness

INHERITED='grep -E "Cap(Inh|Amb)" /proc/self/status | xargs'

none_is_inherited() { prints "CapInh: 0000000000000000 CapAmb: 0000000000000000"; }

@test "runc CVE-2022-29162 crun CVE-2022-27650 youki CVE-2025-27612 run and exec give no inheritable and no ambient capability unasked" {
  local words
  inside "$INHERITED"
  none_is_inherited
  program sleep 1000
  create_and_start
  for words in "" "--cap CAP_NET_RAW" "--user 1000" "--user 1000:1000 --cap CAP_NET_RAW" "--cap CAP_NET_RAW --cap CAP_CHOWN"; do
    # shellcheck disable=SC2086 # words
    run ocirun exec $words "$ID" sh -c "$INHERITED"
    none_is_inherited
  done
  jq '.process | .capabilities.inheritable = ["CAP_KILL"] | .capabilities.ambient = ["CAP_KILL"] | .args = ["sh", "-c", $s]' \
    --arg s "$INHERITED" "$BUNDLE/config.json" >"$TMP/process.json"
  run ocirun exec --process "$TMP/process.json" "$ID"
  prints "CapInh: 0000000000000020 CapAmb: 0000000000000020" # exactly the capability that is asked for
  detector_catches none_is_inherited
}

@test "runc CVE-2022-29162 a file with inheritable capabilities of its own gains nothing for another user" {
  command -v setcap >/dev/null || skip "setcap is not installed"
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/bin/busybox-gain"
  setcap cap_kill+ei "$BUNDLE/rootfs/bin/busybox-gain" || skip "this filesystem holds no capabilities"
  config '.process.user = {uid: 1000, gid: 1000} | .process.noNewPrivileges = false'
  program /bin/busybox-gain grep CapEff /proc/self/status
  run_container
  nothing_is_gained
  config '.process.capabilities.inheritable = ["CAP_KILL"]' # the vulnerable runtimes did this by default
  run_container
  detector_catches nothing_is_gained
}

nothing_is_gained() { prints $'CapEff:\t0000000000000000'; }

@test "runc CVE-2023-25809 with /sys from the host and no cgroup namespace the cgroup tree is not writable" {
  needs_system_call mount_setattr "a recursive option"
  drop_namespace cgroup
  no_mounts_below /sys
  add_mount '{"destination": "/sys", "source": "/sys", "options": ["rbind", "rro"]}'
  write_to_cgroups
  cgroups_are_untouched
  config '.mounts[-1].options = ["rbind"]'
  run_container
  detector_catches cgroups_are_untouched
  find /sys/fs/cgroup -maxdepth 2 -name "$ID-evil" -exec rmdir {} +
}

@test "runc CVE-2023-25809 a cgroup mount is read-only when asked, with and without a cgroup namespace, in a user namespace too" {
  local namespaces
  for namespaces in own host user; do
    [[ $namespaces != host ]] || drop_namespace cgroup
    [[ $namespaces != user ]] || user_namespace
    write_to_cgroups
    cgroups_are_untouched
  done
  config 'del(.linux.namespaces[] | select(.type == "user"), .linux.uidMappings, .linux.gidMappings) | del(.linux.uidMappings, .linux.gidMappings)
    | (.mounts[] | select(.type == "cgroup")).options -= ["ro"]'
  chown -R 0:0 "$BUNDLE/rootfs"
  run_container
  detector_catches cgroups_are_untouched
}

# write_to_cgroups: a container tries to make a cgroup in its own cgroup and at the top of each hierarchy. (The top of v2 has mode 0555.)
write_to_cgroups() {
  local places="/sys/fs/cgroup/memory/$ID-evil /sys/fs/cgroup/$ID-evil"
  if pure_v2; then places=/sys/fs/cgroup/$ID-evil; fi
  capabilities CAP_DAC_OVERRIDE
  inside "mkdir $places; echo \$? made; grep -c ' /sys/fs/cgroup.* ro,' /proc/self/mounts; exit 0"
}

cgroups_are_untouched() { output_mentions "1 made" && equal "" "$(cgroups "$ID-evil")" && equal "" "$(find /sys/fs/cgroup -maxdepth 3 -name "$ID-evil")"; }

# with_key COMMAND…: runs `ocirun COMMAND…` in a session keyring of its own with a key.
with_key() {
  python3 -c 'import ctypes, os, sys
call = ctypes.CDLL(None).syscall
assert call(250, 1, None) >= 0  # keyctl, KEYCTL_JOIN_SESSION_KEYRING
assert call(248, b"user", b"secret", b"x", 1, -3) >= 0  # add_key, KEY_SPEC_SESSION_KEYRING
os.execvp(sys.argv[1], sys.argv[1:])' timeout -k 2 30 "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" "$@"
}

@test "keyrings: the program does not possess the keys of who called run or exec" {
  [[ $(uname -m) == x86_64 ]] || skip "the calls have other numbers here"
  with_python
  local find='import ctypes; print("key", ctypes.CDLL(None).syscall(250, 10, -3, b"user", b"secret", 0))' # KEYCTL_SEARCH
  program python3 -c "$find"
  run with_key run --bundle "$BUNDLE" "$ID"
  has_no_key
  run with_key run --no-new-keyring --bundle "$BUNDLE" "$ID"
  detector_catches has_no_key
  program sleep 1000
  create_and_start
  run with_key exec "$ID" python3 -c "$find"
  has_no_key
}

has_no_key() { succeeds "key -1"; }
