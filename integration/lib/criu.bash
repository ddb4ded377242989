# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of inner shells and of bats
# What the tests of criu's options and of engines' checkpoints share beyond checkpoint.bash: `load lib/criu`.

load lib/checkpoint

# goes_on: the container's counter counts from now on.
goes_on() {
  local before
  before=$(counted)
  eventually counts_beyond "$before"
}

# is_absent: the runtime knows no container $ID.
is_absent() { [[ $(ocirun state "$ID" 2>&1) == *"does not exist"* ]]; }

# join_ipc_and_uts: the container joins the ipc and uts namespaces of a helper.
join_ipc_and_uts() {
  helper unshare --ipc --uts sleep 1000
  eventually differs "/proc/$HELPER/ns/uts" /proc/self/ns/uts
  config 'del(.hostname)'
  set_namespace uts "/proc/$HELPER/ns/uts"
  set_namespace ipc "/proc/$HELPER/ns/ipc"
}

# with_python: gives the container the host's Python. python TEXT: sets the program to a Python script that ends with `count()` to count.
with_python() {
  ln -s usr/lib usr/lib64 "$BUNDLE/rootfs/"
  add_mount '{"destination": "/usr", "type": "bind", "source": "/usr", "options": ["bind", "ro"]}'
}
python() {
  program /usr/bin/python3 -c "import fcntl, os, socket, sys, time
def count():
    number = 0
    while True:
        number += 1
        with open('/tmp/n.new', 'w') as file: print(number, file=file)
        os.rename('/tmp/n.new', '/tmp/n')
        step(number)
        time.sleep(0.05)
def step(number): pass
$1"
}

# checkpoint_counter: the images of a counter, with a copy in `intact`.
checkpoint_counter() {
  run_counting
  ocirun checkpoint "$ID"
  cp -a checkpoint intact
}
mend() { cp -a intact/. checkpoint/; }

# with_a_deleted_file: a counter that has the file /below/gone open, which is deleted.
with_a_deleted_file() {
  mkdir -p "$BUNDLE/rootfs/below"
  script 'exec 7>/below/gone; rm /below/gone; i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; sleep 0.05; done'
}

# old DIRECTORY: gives it a time of change of 2001. is_not_written DIRECTORY: nobody has made or removed a file there since.
old() { touch -d 2001-01-01 "$1"; }
is_not_written() { equal 2001 "$(date -r "$1" +%Y)"; }
