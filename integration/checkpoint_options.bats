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
  run_counter
  run ocirun checkpoint "$ID"
  exits 1 "give --tcp-established, or end the TCP connections first"
  status_is running
  goes_on
  ocirun checkpoint --tcp-established "$ID"
  status_is stopped
  restore_fails
  mentions "--tcp-established"
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
  run_counter
  run ocirun checkpoint "$ID"
  exits 1 "give --file-locks"
  ocirun checkpoint --file-locks "$ID"
  restore --file-locks
  goes_on
  run ocirun exec "$ID" /usr/bin/python3 -c 'import fcntl; fcntl.lockf(open("/tmp/lock", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB)'
  exits 1 BlockingIOError
}

@test "a bind mount whose source is a symlink is restored" {
  mkdir "$TMP/data"
  ln -s data "$TMP/link"
  echo word >"$TMP/data/file"
  add_mount "{\"destination\": \"/data\", \"type\": \"bind\", \"source\": \"$TMP/link\", \"options\": [\"bind\", \"ro\"]}"
  counter
  run_counter
  ocirun checkpoint "$ID"
  restore
  goes_on
  equal word "$(ocirun exec "$ID" cat /data/file)"
}
