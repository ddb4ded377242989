# shellcheck disable=SC2016,SC2154 # variables of inner shells and of bats
# Options that `checkpoint` and `restore` pass on to criu have an effect that a test sees. What needs criu is skipped where
# `criu check` fails. In a machine: ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_options.bats
load lib/common
load lib/criu

setup() {
  common_setup
  needs_criu
}

# a_connection: a container that sends a number over a TCP connection to itself, and writes to /tmp/n what has arrived.
a_connection() {
  with_python
  python '
listener = socket.create_server(("127.0.0.1", 5000))
near = socket.create_connection(("127.0.0.1", 5000))
far, _ = listener.accept()
def step(number):
    near.sendall(b"x")
    if far.recv(1) != b"x": sys.exit("the connection has ended")
count()'
}

@test "--tcp-established: a connection is saved and restored with it, and refused without" {
  a_connection
  run_counting
  run ocirun checkpoint "$ID"
  exits 1 "give --tcp-established, or end the TCP connections first"
  status_is running
  goes_on
  ocirun checkpoint --tcp-established "$ID"
  status_is stopped
  restore_fails
  output_mentions "--tcp-established"
  is_absent
  restore --tcp-established
  goes_on
}

@test "--file-locks: a lock is held after the restore, and refused without" {
  with_python
  python '
lock = open("/tmp/lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
count()'
  run_counting
  run ocirun checkpoint "$ID"
  exits 1 "give --file-locks"
  ocirun checkpoint --file-locks "$ID"
  restore --file-locks
  goes_on
  run ocirun exec "$ID" /usr/bin/python3 -c 'import fcntl; fcntl.lockf(open("/tmp/lock", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB)'
  exits 1 BlockingIOError
}

# a_memory: a container that has 4 MiB of memory, writes to the first MiB again in each step, and counts.
a_memory() {
  with_python
  python '
pages = bytearray(os.urandom(4 << 20))
def step(number):
    pages[:1 << 20] = bytes([number % 256]) * (1 << 20)
count()'
}
blocks() { stat -c %b "$@" | awk '{sum += $1} END {print sum}'; }

@test "--auto-dedup: pages that a later image has are removed from the image of the pre-dump" {
  a_memory
  run_counting
  ocirun checkpoint --pre-dump --image-path "$TMP/one" "$ID"
  local before
  before=$(blocks "$TMP"/one/pages-*.img)
  goes_on
  ocirun checkpoint --auto-dedup --image-path "$TMP/two" --parent-path ../one "$ID"
  [[ $(blocks "$TMP"/one/pages-*.img) -lt $((before - 1500)) ]]
  restore --image-path "$TMP/two"
  goes_on
}

@test "--page-server: the pages of memory go to a server, and no server is an error" {
  a_memory
  run_counting
  run ocirun checkpoint --page-server 127.0.0.1:5001 --image-path "$TMP/failed" "$ID"
  exits 1 "no criu page-server answers at the address of --page-server"
  status_is running
  goes_on
  mkdir -m 700 "$TMP/pages"
  helper criu page-server --images-dir "$TMP/pages" --address 127.0.0.1 --port 5001
  eventually grep -q ":1389 .* 0A " /proc/net/tcp
  ocirun checkpoint --page-server 127.0.0.1:5001 --image-path "$TMP/images" "$ID"
  equal "" "$(find "$TMP/images" -name 'pages-*')"
  [[ -n $(find "$TMP/pages" -name 'pages-*' -size +4M) ]]
  eventually has_ended "$HELPER"
  cp "$TMP"/pages/page*.img "$TMP/images/"
  restore --image-path "$TMP/images"
  goes_on
}

@test "--network-lock: connections are locked by nftables where the programs of iptables do not work" {
  a_connection
  run_counting
  local program
  program=$(readlink -f "$(command -v iptables-restore)")
  mount --bind /bin/false "$program"
  run ocirun checkpoint --tcp-established "$ID"
  [[ $status == 1 ]] && run ocirun checkpoint --leave-running --tcp-established --network-lock nftables "$ID"
  umount "$program"
  succeeds
  goes_on
}

@test "--network-lock nftables: a connection goes on after the restore" {
  a_connection
  run_counting
  ocirun checkpoint --tcp-established --network-lock nftables "$ID"
  restore --tcp-established --network-lock nftables
  goes_on
}

@test "--link-remap: an open file that was removed, and has another name, is restored, and refused without" {
  with_python
  python '
file = open("/tmp/one", "w")
os.link("/tmp/one", "/tmp/two")
os.unlink("/tmp/one")
def step(number):
    file.write("x")
    file.flush()
count()'
  run_counting
  run ocirun checkpoint "$ID"
  exits 1 "give --link-remap"
  status_is running
  ocirun checkpoint --link-remap "$ID"
  restore --link-remap
  goes_on
  local before
  before=$(stat -c %s "$BUNDLE/rootfs/tmp/two")
  goes_on
  [[ $(stat -c %s "$BUNDLE/rootfs/tmp/two") -gt $before ]]
  equal "two" "$(basename "$BUNDLE"/rootfs/tmp/[ot]*)"
}

@test "--ext-unix-sk: a connection to a socket of the host is restored, and refused without" {
  with_python
  mkdir "$TMP/socket"
  helper python3 -c '
import os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1] + "/log")
while True:
    received = server.recv(100)
    with open(sys.argv[1] + "/new", "wb") as file: file.write(received)
    os.rename(sys.argv[1] + "/new", sys.argv[1] + "/received")' "$TMP/socket"
  eventually exists "$TMP/socket/log"
  add_mount "{\"destination\": \"$TMP/socket\", \"type\": \"bind\", \"source\": \"$TMP/socket\", \"options\": [\"bind\"]}"
  python "
client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
client.connect('$TMP/socket/log')
def step(number): client.send(str(number).encode())
count()"
  run_counting
  run ocirun checkpoint --ext-unix-sk "$ID"
  exits 1 "connected to a unix socket of another network namespace"
  status_is running
  ocirun delete --force "$ID"
  drop_namespace network
  run_counting
  run ocirun checkpoint "$ID"
  exits 1 "give --ext-unix-sk"
  status_is running
  ocirun checkpoint --ext-unix-sk "$ID"
  restore --ext-unix-sk
  goes_on
  local before
  before=$(counted)
  eventually received_beyond "$before"
}
received_beyond() { [[ $(cat "$TMP/socket/received") -gt $1 ]]; }

@test "--tcp-skip-in-flight: a connection that nobody has accepted is left out, and is refused without" {
  with_python
  python '
listener = socket.create_server(("127.0.0.1", 5000))
near = socket.create_connection(("127.0.0.1", 5000))
count()'
  run_counting
  run ocirun checkpoint --tcp-established "$ID"
  exits 1 "give --tcp-skip-in-flight"
  status_is running
  ocirun checkpoint --tcp-established --tcp-skip-in-flight "$ID"
  restore --tcp-established --tcp-skip-in-flight
  goes_on
}

@test "--lazy-pages and --status-fd: the memory follows the restored process" {
  with_python
  python '
pages = bytearray(os.urandom(1 << 20)) * 32
digest = hash(bytes(pages))
def step(number):
    if hash(bytes(pages)) != digest: sys.exit("the memory is another one")
count()'
  run_counting
  mkfifo "$TMP/status"
  exec 9<>"$TMP/status"
  helper "$OCIRUN" --root "$ROOT" checkpoint --lazy-pages --page-server 127.0.0.1:5001 --status-fd 9 --image-path "$TMP/images" "$ID"
  IFS= read -r -d "" -n 1 -t 60 -u 9 _
  exec 9>&-
  local server=$HELPER
  equal "" "$(find "$TMP/images" -name "pages-*" -size +16M)"
  helper criu lazy-pages --page-server --address 127.0.0.1 --port 5001 --images-dir "$TMP/images" --work-dir "$TMP/images"
  eventually exists "$TMP/images/lazy-pages.socket"
  # The first container is there until its memory is fetched.
  config '.linux.cgroupsPath += "-second"'
  ID=$ID-second restore --lazy-pages --image-path "$TMP/images"
  goes_on
  eventually has_ended "$HELPER"
  eventually has_ended "$server"
  goes_on
}

@test "the annotation org.criu.config names a file of options for criu" {
  a_connection
  echo tcp-established >"$TMP/criu.conf"
  config '.annotations = {"org.criu.config": $f}' --arg f "$TMP/criu.conf"
  run_counting
  ocirun checkpoint "$ID"
  restore
  goes_on
  ocirun delete --force "$ID"
  config '.annotations = {"org.criu.config": "criu.conf"}'
  restore_fails # without the option for the connection
  output_mentions '/annotations/org.criu.config: "criu.conf" is no absolute path: the annotation has no effect'
}

@test "--lsm-profile: the restored container has another profile, which config.json has to name" {
  [[ $(cat /sys/module/apparmor/parameters/enabled 2>/dev/null) == Y ]] || skip "this kernel has no AppArmor, or it is off"
  printf 'profile %s flags=(attach_disconnected) {\n  capability, network, file, mount, umount, signal, ptrace, unix,\n}\n' "${ID}one" "${ID}two" |
    apparmor_parser --skip-cache --replace
  config '.process.apparmorProfile = $p' --arg p "${ID}one"
  run_counter
  ocirun checkpoint "$ID"
  config '.process.apparmorProfile = $p' --arg p "${ID}two"
  restore_fails
  output_mentions "has the AppArmor profile \"${ID}one (enforce)\""
  restore --lsm-profile "apparmor:${ID}two"
  equal "${ID}two (enforce)" "$(cat "/proc/$(init_pid)/attr/current")"
  goes_on
  ocirun delete --force "$ID"
  printf %s "${ID}one" >/sys/kernel/security/apparmor/.remove
  printf %s "${ID}two" >/sys/kernel/security/apparmor/.remove
}

@test "--lsm-mount-context: mounts without a context stay without" {
  run_counter
  ocirun checkpoint "$ID"
  restore --lsm-mount-context system_u:object_r:tmp_t:s0
  goes_on
  run grep context= "/proc/$(init_pid)/mountinfo"
  exits 1
}
