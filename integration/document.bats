load lib/common

@test "D-2 text that is not JSON or not UTF-8 is refused" {
  echo '{"ociVersion": "1.3.0",' >"$BUNDLE/config.json"
  refused "config.json"
  : >"$BUNDLE/config.json"
  refused "config.json"
  printf '{"ociVersion": "1.3.0\xff"}' >"$BUNDLE/config.json"
  refused "config.json"
}

@test "D-3 a name that is there twice is refused with its place" {
  sed -i 's|"cwd": "/"|"cwd": "/", "cwd": "/tmp"|' "$BUNDLE/config.json"
  refused cwd
}

@test "D-4 unknown properties are ignored at every depth" {
  config '.nonsense = {a: 1} | .process.nonsense = [1] | .linux.nonsense = "x" | .root.nonsense = null
    | .mounts[0].nonsense = 1 | .linux.namespaces[0].nonsense = 1 | .linux.resources.nonsense = {b: 2}'
  inside 'echo fine'
  succeeds fine
}

@test "D-5 a value of the wrong type is refused with its pointer" {
  refused /process/args '.process.args = "sh"'
  refused /process/capabilities '.process.capabilities = ["CAP_KILL"]'
  refused /root/readonly '.root.readonly = "yes"'
  refused /process/user/uid '.process.user.uid = "0"'
  refused /linux/namespaces '.linux.namespaces = {}'
  refused /mounts/0/options '.mounts[0].options = "ro"'
  refused /hostname '.hostname = 5'
  refused /linux/resources '.linux.resources = []'
}

@test "D-6 null counts as absent, but not as the whole document" {
  config '.hooks = null | .annotations = null | .linux.sysctl = null | .process.rlimits = null | .process.oomScoreAdj = null'
  inside 'echo fine'
  succeeds fine
  echo null >"$BUNDLE/config.json"
  refused "config.json"
}

@test "D-7 integers are held to their width" {
  refused /process/user/uid '.process.user.uid = -1'
  refused /process/user/uid '.process.user.uid = 1.5'
  sed -i 's|"uid": 0|"uid": 18446744073709551616|' "$BUNDLE/config.json"
  refused /process/user/uid
}

@test "D-8 a NUL in a string is refused" {
  refused NUL '.process.args = ["sh\u0000x"]'
  refused NUL '.process.env += ["A=\u0000"]'
  refused NUL '.mounts[0].destination = "/proc\u0000"'
  refused NUL '.process.cwd = "/\u0000"'
  refused NUL '.root.path = "rootfs\u0000"'
}

@test "D-10 ociVersion is required, SemVer, and of a supported major" {
  local version
  refused ociVersion 'del(.ociVersion)'
  for version in invalid "" 1 1.0 2.0.0 v1.0.0 01.0.0 0.1.0 "1.0.0 "; do
    refused ociVersion '.ociVersion = $v' --arg v "$version"
  done
}

@test "D-10 every 1.x version is accepted, a newer one with a warning" {
  local version
  script 'echo fine'
  for version in 1.0.0 1.0.0-rc5 1.0.2-dev 1.1.0 1.2.1 1.3.0 1.3.0+dev; do
    config '.ociVersion = $v' --arg v "$version"
    run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
    succeeds fine
    equal "" "$stderr"
  done
  config '.ociVersion = "1.9.0"'
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds fine
  [[ $stderr == *1.9.0* ]]
}

@test "a document that is too deep or too large is refused" {
  python3 -c 'print("{\"ociVersion\":\"1.3.0\",\"x\":" + "[" * 100000 + "]" * 100000 + "}")' >"$BUNDLE/config.json"
  refused "config.json"
  python3 -c 'print("{\"ociVersion\":\"1.3.0\",\"x\":\"" + "a" * (17 << 20) + "\"}")' >"$BUNDLE/config.json"
  refused "config.json"
}

@test "config.json that is a directory, a fifo or /dev/zero does not hang create" {
  rm "$BUNDLE/config.json"
  mkdir "$BUNDLE/config.json"
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1
  rmdir "$BUNDLE/config.json"
  mkfifo "$BUNDLE/config.json"
  run timeout 60 "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID"
  exits 1
}

@test "T-1 T-2 root is required and its directory must exist" {
  refused root 'del(.root)'
  refused /root/path 'del(.root.path)'
  refused /root/path '.root.path = ""'
  refused "no such file or directory" '.root.path = "nowhere"'
  touch "$BUNDLE/file"
  refused "not a directory" '.root.path = "file"'
}

@test "T-2 root.path may be absolute, or a symbolic link, or the bundle itself" {
  script 'echo fine'
  config '.root.path = $p' --arg p "$BUNDLE/rootfs"
  run_container
  succeeds fine
  ln -s rootfs "$BUNDLE/link"
  config '.root.path = "link"'
  run_container
  succeeds fine
  mv "$BUNDLE/rootfs"/* "$BUNDLE/"
  config '.root.path = "."'
  run_container
  succeeds fine
}

@test "T-3 a read-only root refuses writes, tmpfs inside does not" {
  config '.root.readonly = true'
  add_mount '{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}'
  inside 'touch /file; touch /tmp/file && echo tmp; touch /dev/file && echo dev'
  succeeds
  output_mentions "Read-only file system"
  output_mentions tmp
  output_mentions dev
  [[ ! -e $BUNDLE/rootfs/file ]]
}

@test "T-3 a root that is not read-only takes writes" {
  inside 'echo x >/file'
  succeeds ""
  equal x "$(<"$BUNDLE/rootfs/file")"
}

@test "T-4 T-5 hostname and domainname are set in the container and not on the host" {
  local before
  before=$(hostname)
  config '.hostname = "inner" | .domainname = "example.org"'
  inside 'hostname; cat /proc/sys/kernel/domainname'
  succeeds $'inner\nexample.org'
  equal "$before" "$(hostname)"
}

@test "T-4 T-5 hostname or domainname without an own uts namespace is refused" {
  refused hostname 'del(.linux.namespaces[] | select(.type == "uts"))'
  refused domainname 'del(.linux.namespaces[] | select(.type == "uts")) | del(.hostname) | .domainname = "x"'
}

@test "T-4 a hostname longer than the kernel takes is refused" {
  refused hostname '.hostname = $h' --arg h "$(printf 'a%.0s' {1..65})"
}

@test "T-6 annotations come back from state; an empty key and a value that is no string are refused" {
  refused annotations '.annotations = {"": "x"}'
  refused annotations '.annotations = {"a": 1}'
  config '.annotations = {"a=b": "c=d", "bundle": "x", "org.opencontainers.unknown": "", "e": "é\n\""}'
  create
  equal "c=d" "$(ocirun state "$ID" | jq -r '.annotations["a=b"]')"
  equal x "$(ocirun state "$ID" | jq -r '.annotations.bundle')"
  equal $'é\n"' "$(ocirun state "$ID" | jq -r '.annotations.e')"
  equal "$BUNDLE" "$(state bundle)"
}

@test "T-9 a document without linux, mounts and hostname runs" {
  local root=/proc/self/root
  config 'del(.mounts, .hostname) | .linux = {namespaces: [{type: "mount"}, {type: "pid"}], cgroupsPath: .linux.cgroupsPath}'
  inside 'echo fine'
  succeeds fine
  equal / "$(readlink $root)"
}

@test "T-10 objects of other platforms do no harm" {
  config '.windows = {} | .solaris = {} | .zos = {} | .freebsd = {}'
  program echo fine
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds fine
}

@test "the specification's good documents are valid, the bad ones are not" {
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  local file
  for file in "$OCIRUN_SPEC_DIR"/schema/test/config/good/*.json; do
    cp "$file" "$BUNDLE/config.json"
    run ocirun validate "$BUNDLE"
    succeeds
  done
  for file in "$OCIRUN_SPEC_DIR"/schema/test/config/bad/linux-*.json "$OCIRUN_SPEC_DIR"/schema/test/config/bad/invalid-json.json; do
    cp "$file" "$BUNDLE/config.json"
    run ocirun validate "$BUNDLE"
    exits 1
  done
}

@test "W-6 validate reports every problem with its pointer, and suggests the word that was meant" {
  run ocirun validate "$BUNDLE"
  succeeds
  config '.process.cwd = "tmp" | .process.args = [] | .linux.namespaces += [{type: "pid"}]
    | .linux.seccomp = {defaultAction: "SCMP_ACT_ALOW"}'
  run ocirun validate "$BUNDLE"
  exits 1 /process/cwd
  output_mentions /process/args
  output_mentions /linux/namespaces/6
  output_mentions 'did you mean SCMP_ACT_ALLOW?'
  [[ ! -e $ROOT ]]
}

@test "W-6 validate lists a hundred problems, and says that there are more" {
  config '.process.env = [range(150) | "no assignment \(.)"]'
  run ocirun validate "$BUNDLE"
  exits 1 "config.json has 100 errors or more: mend these first"
  equal 100 "$(grep -c '^error: ' <<<"$output")"
}

@test "spec writes the default document, once" {
  mkdir "$TMP/new"
  cd "$TMP/new"
  run ocirun spec
  succeeds ""
  equal true "$(jq .process.terminal config.json)"
  equal '["sh"]' "$(jq -c .process.args config.json)"
  equal / "$(jq -r .process.cwd config.json)"
  equal rootfs "$(jq -r .root.path config.json)"
  equal '["/proc","/dev","/dev/pts","/dev/shm","/dev/mqueue","/sys","/sys/fs/cgroup"]' "$(jq -c '[.mounts[].destination]' config.json)"
  jq -e '.mounts[6].options | index("ro")' config.json
  jq -e '.process.env | any(startswith("PATH="))' config.json
  jq -e '[.linux.namespaces[].type] | contains(["pid", "network", "ipc", "uts", "mount"])' config.json
  jq -e '.linux.resources.devices[0].allow == false' config.json
  jq -e '(.linux.maskedPaths | length > 0) and (.linux.readonlyPaths | length > 0)' config.json
  run ocirun spec
  exits 1 config.json
  run ocirun validate .
  succeeds
}

@test "spec --bundle writes there, and what it writes runs" {
  mv "$BUNDLE/config.json" "$TMP/old"
  run ocirun spec --bundle "$BUNDLE"
  succeeds
  config '.process.terminal = false | .process.args = ["echo", "fine"] | .linux.cgroupsPath = "/" + $id' --arg id "$ID"
  run_container
  succeeds fine
  run ocirun spec --bundle /no/such/dir
  exits 1
}

@test "spec --rootless maps the user and has no network namespace and no resources" {
  cd "$TMP"
  ocirun spec --rootless
  jq -e '[.linux.namespaces[].type] | contains(["user"]) and (contains(["network"]) | not)' config.json
  equal '[{"containerID":0,"hostID":0,"size":1}]' "$(jq -c .linux.uidMappings config.json)"
  jq -e '.linux.resources == null' config.json
}

@test "spec writes a document that keeps to the specification's schema" {
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  cd "$TMP"
  ocirun spec
  "$LIB/validates" "$OCIRUN_SPEC_DIR/schema/config-schema.json" config.json
}

@test "F-1 F-4 F-13 features prints one JSON object and nothing on stderr" {
  run --separate-stderr "$OCIRUN" features
  succeeds
  equal "" "$stderr"
  jq -e . <<<"$output" >"$TMP/features"
  equal 1.0.0 "$(jq -r .ociVersionMin "$TMP/features")"
  [[ $(jq -r .ociVersionMax "$TMP/features") =~ ^1\.3\. ]]
  equal '["createContainer","createRuntime","poststart","poststop","prestart","startContainer"]' "$(jq -c '.hooks | sort' "$TMP/features")"
  equal '["cgroup","ipc","mount","network","pid","time","user","uts"]' "$(jq -c '.linux.namespaces | sort' "$TMP/features")"
  jq -e '.linux.cgroup.v1 and .linux.cgroup.v2' "$TMP/features"
  jq -e '.linux.seccomp.enabled and (.linux.seccomp.actions | index("SCMP_ACT_NOTIFY"))' "$TMP/features"
  jq -e '.linux.mountExtensions.idmap.enabled and .linux.netDevices.enabled' "$TMP/features"
  jq -e '.linux.capabilities | index("CAP_CHECKPOINT_RESTORE")' "$TMP/features"
}

@test "F-1 the oldest and the newest version that features names are accepted" {
  local version
  for version in $("$OCIRUN" features | jq -r '.ociVersionMin, .ociVersionMax'); do
    config '.ociVersion = $v' --arg v "$version"
    run ocirun validate "$BUNDLE"
    succeeds
  done
}

@test "F-5 features lists every mount option of the specification and no filesystem's own" {
  local option
  "$OCIRUN" features | jq -r '.mountOptions[]' >"$TMP/options"
  for option in async atime bind defaults dev diratime dirsync exec iversion lazytime loud noatime nodev nodiratime \
    noexec noiversion nolazytime norelatime nostrictatime nosuid nosymfollow private rprivate shared rshared slave \
    rslave unbindable runbindable ratime rdev rdiratime rexec rnoatime rnodiratime rnoexec rnorelatime \
    rnostrictatime rnosuid rrelatime rro rrw rstrictatime rsuid rnodev rnosymfollow rsymfollow rbind relatime \
    remount ro rw silent strictatime suid symfollow sync tmpcopyup idmap ridmap; do
    grep -qx "$option" "$TMP/options" || { echo "missing: $option"; return 1; }
  done
  equal 0 "$(grep -cE '^(size|mode|uid|gid|acl)' "$TMP/options")"
}

@test "F-2 features keeps to the specification's schema" {
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  "$OCIRUN" features >"$TMP/features.json"
  "$LIB/validates" "$OCIRUN_SPEC_DIR/schema/features-schema.json" "$TMP/features.json"
}
