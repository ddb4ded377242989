# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# `restore` of images that somebody has forged to get at the host or at other containers. Forged credentials, roots and mounts:
# checkpoint.bats; maps of user namespaces: checkpoint_namespaces.bats. What needs criu is skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_forged.bats
load lib/common
load lib/criu

teardown() {
  common_teardown
  rm -rf "/var/tmp/${ID:?}"
}

absent() { [[ ! -e $1 ]]; }

@test "no hook sees a user namespace with forged maps" {
  needs_criu
  user_namespace
  counter
  config '.hooks = {createRuntime: [{path: "/bin/sh", args: ["sh", "-c", $c]}]}' --arg c "echo ran >>$TMP/hooks"
  checkpoint_counter
  rm "$TMP/hooks"
  forge_image "$(basename checkpoint/userns-*.img)" "images['entries'][0]['uid_map'].append({'first': 70000, 'lower_first': 0, 'count': 1})"
  restore_fails
  output_mentions "the user namespace maps other user ids than /linux/uidMappings"
  absent "$TMP/hooks"
  mend
  restore
  equal ran "$(<"$TMP/hooks")"
}

@test "a user namespace with more than five lines in its maps is restored, in whatever order they are written" {
  needs_criu
  user_namespace
  config '[range(6; -1; -1) | {containerID: (. * 100), hostID: (100000 + . * 100), size: 100}] as $m | .linux.uidMappings = $m | .linux.gidMappings = $m'
  counter
  checkpoint_counter
  restore
  goes_on
  equal 7 "$(wc -l <"/proc/$(init_pid)/uid_map")"
}

@test "what is in joined ipc and uts namespaces is neither saved nor restored, and forged images cannot change it" {
  needs_criu
  join_ipc_and_uts
  counter
  checkpoint_counter
  equal "" "$(find checkpoint -name 'utsns-*' -o -name 'ipcns-*')"
  nsenter --uts --target "$HELPER" hostname later
  local ids
  for ids in checkpoint/ids-*.img; do forge_image "${ids##*/}" "images['entries'][0].update(uts_ns_id=77)"; done
  echo '{"magic": "UTSNS", "entries": [{"nodename": "forged", "domainname": "forged"}]}' >"$TMP/uts.json"
  needs_crit
  crit encode -i "$TMP/uts.json" -o checkpoint/utsns-77.img
  restore_fails
  output_mentions "the container of the images has a uts namespace of its own: it has joined none by a path"
  equal later "$(nsenter --uts --target "$HELPER" hostname)"
  rm checkpoint/utsns-77.img
  mend
  restore
  goes_on
  equal later "$(nsenter --uts --target "$HELPER" hostname)"
}

@test "a process that forged images put into a session without a leader is compared, and is killed with the others" {
  needs_criu
  drop_namespace pid
  script 'sleep 1234567 & i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; sleep 0.05; done'
  checkpoint_counter
  local child
  needs_crit
  child=$(crit decode -i checkpoint/pstree.img | jq '[.entries[] | select(.ppid != 0)][0].pid')
  forge_image pstree.img "[entry.update(sid=31999, pgid=31999) for entry in images['entries'] if entry['pid'] == $child]"
  forge_image "core-$child.img" "images['entries'][0]['thread_core']['creds'].update(uid=7, euid=7, suid=7, fsuid=7)"
  restore_fails
  output_mentions "process $child: has user ids 7,7,7,7"
  absent "/proc/$child"
  is_absent
}

@test "two id-mapped mounts of one directory cannot be swapped by forged images" {
  needs_criu
  mkdir -pm 755 "/var/tmp/$ID/data"
  add_mount '{"destination": "/narrow", "source": "'"/var/tmp/$ID/data"'", "options": ["bind", "idmap"], "uidMappings": [{"containerID": 0, "hostID": 4000, "size": 1}], "gidMappings": [{"containerID": 0, "hostID": 4000, "size": 1}]}'
  add_mount '{"destination": "/wide", "source": "'"/var/tmp/$ID/data"'", "options": ["bind", "idmap"], "uidMappings": [{"containerID": 0, "hostID": 4000, "size": 1000}], "gidMappings": [{"containerID": 0, "hostID": 4000, "size": 1000}]}'
  counter
  checkpoint_counter
  forge_image "$(basename checkpoint/mountpoints-*.img)" \
    "[entry.update(ext_key={'/narrow': '/wide', '/wide': '/narrow'}[entry['ext_key']]) for entry in images['entries'] if entry.get('ext_key') in ('/narrow', '/wide')]"
  restore_fails
  output_mentions "/narrow has another id map: the images mount"
  mend
  restore
  goes_on
}

@test "a new user namespace together with a joined network namespace is refused" {
  user_namespace
  set_namespace network /proc/self/ns/net
  run ocirun restore --bundle "$BUNDLE" --image-path "$TMP" restored
  exits 1 "the network namespace is joined by a path, and the container has a new user namespace"
}

@test "no cgroup of forged images is made, and no file changes its owner or mode, outside of the container's cgroup" {
  needs_criu
  counter
  checkpoint_counter
  local before forgery
  before=$(stat -c '%a %u' /etc/hostname)
  # criu opens the path of a cgroup below a directory of its own, and gives it the owner and the mode that the image names.
  for forgery in \
    'c["dirs"][0].update(dir_name="../../../../../../../../etc/hostname", dir_perms={"mode": 33279, "uid": 0, "gid": 0})' \
    'c["dirs"][0].update(children=[{"dir_name": "../beside", "dir_perms": {"mode": 16877, "uid": 0, "gid": 0}}])' \
    'c["dirs"].append({"dir_name": "beside", "dir_perms": {"mode": 16877, "uid": 0, "gid": 0}})' \
    'c["dirs"][0].update(dir_name="beside")' \
    'c["dirs"][0]["dir_perms"].update(uid=4321)' \
    'c["dirs"][0]["dir_perms"].update(mode=16895)' \
    'c.update(cnames=["../../x"])' \
    '[m.update(cgns_prefix=1) for s in images["entries"][0]["sets"] for m in s["ctls"]]' \
    '[m.update(path="/beside") for s in images["entries"][0]["sets"] for m in s["ctls"]]'; do
    forge_image cgroup.img "[$forgery for c in images['entries'][0]['controllers'][:1]]"
    restore_fails
    output_mentions "criu could harm the host with these images (--trust-images gives them to criu all the same): cgroup.img: "
    equal "$before" "$(stat -c '%a %u' /etc/hostname)"
    equal "" "$(find /sys/fs/cgroup -name beside)"
    mend
  done
  restore
  goes_on
}

@test "forged limits are found out: a hard limit, an OOM score, a real-time policy" {
  needs_criu
  config '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_RTPRIO", soft: 0, hard: 0}] | .process.oomScoreAdj = 7'
  counter
  checkpoint_counter
  forge "core['tc']['rlimits']['rlimits'][7].update(cur=1000, max=1000)"
  restore_fails
  output_mentions "has a hard limit RLIMIT_NOFILE of 1000: /process/rlimits/0 gives 200"
  mend
  forge "core['tc'].update(oom_score_adj=-5)"
  restore_fails
  output_mentions "has an OOM score of -5: /process/oomScoreAdj is 7"
  mend
  forge "core['thread_core'].update(sched_policy=1, sched_prio=3)"
  restore_fails
  output_mentions "has the scheduling policy SCHED_FIFO with priority 3"
  mend
  forge "core['thread_core'].update(sched_nice=-20)"
  restore_fails
  output_mentions "has the nice value -20"
  mend
  restore
  goes_on
}

# run_with KIND: the counter, in the host's network, whose descriptor 3 is a socket of the host: the Python expression KIND makes it.
run_with() {
  drop_namespace network
  counter
  rm -f "$BUNDLE/rootfs/tmp/n"
  python3 -c "import os, socket, sys
made = $1
made.setsockopt(socket.SOL_SOCKET, 36, 5) if made.family == socket.AF_INET else None
os.dup2(made.fileno(), 3)
os.execv(sys.argv[1], sys.argv[1:])" "$OCIRUN" --root "$ROOT" run --detach --preserve-fds 1 --bundle "$BUNDLE" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>&1
  eventually exists "$BUNDLE/rootfs/tmp/n"
  ocirun checkpoint --leave-running "$ID"
  ocirun delete --force "$ID"
}

@test "sockets that only a capability opens are not restored without the capability: one with a mark, a packet socket" {
  needs_criu
  run_with "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
  restore_fails
  output_mentions "descriptor 3: is a socket with a mark, which a process without CAP_NET_ADMIN cannot open"
  restore --trust-images
  goes_on
  ocirun delete --force "$ID"
  rm -r checkpoint
  run_with "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"
  restore_fails
  output_mentions "descriptor 3: is a raw or packet socket, which a process without CAP_NET_RAW cannot open"
}

@test "the numbers that ocirun knows of criu's messages are those of the criu that is installed" {
  needs_python pycriu.images
  python3 - "$BATS_TEST_DIRNAME/../criu/dump/proto.hpp" <<'EOF'
import glob, importlib, os, re, sys
import pycriu.images
known = {}
def learn(enums, prefix=""):
    for enum in enums:
        for value in enum.values: known[f"{prefix}{enum.name}.{value.name}"] = value.number
for path in glob.glob(os.path.dirname(pycriu.images.__file__) + "/*_pb2.py"):
    file = importlib.import_module("pycriu.images." + os.path.basename(path)[:-3]).DESCRIPTOR
    learn(file.enum_types_by_name.values())
    for message in file.message_types_by_name.values():
        learn(message.enum_types, message.name + ".")
        for field in message.fields: known[f"{message.name}.{field.name}"] = field.number
table = re.findall(r'\{"([^"]+)", (\d+)\}', open(sys.argv[1]).read())
wrong = [name for name, number in table if known.get(name, int(number)) != int(number)]
missing = [name for name, _ in table if name not in known]  # in an old criu
sys.exit(f"wrong: {wrong}, missing: {missing}" if wrong or len(missing) > len(table) // 10 else 0)
EOF
}
