# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of inner shells and of bats
# For tests of `checkpoint` and `restore`: `source "$LIB/criu.bash"`. The containers write how often they have counted, so that a test
# sees that they go on.

needs_criu() { criu check >/dev/null 2>&1 || skip "criu does not work under this kernel"; }

# counter: a program that writes how often it has counted to /tmp/n.
counter() { script 'i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; sleep 0.05; done'; }
counted() { cat "$BUNDLE/rootfs/tmp/n"; }
counts_beyond() { [[ $(counted) -gt $1 ]]; }

# goes_on: the container's counter counts from now on.
goes_on() {
  local before
  before=$(counted)
  eventually counts_beyond "$before"
}

# run_counter: a running container whose counter counts.
run_counter() {
  rm -f "$BUNDLE/rootfs/tmp/n"
  run_with_pipes
  eventually exists "$BUNDLE/rootfs/tmp/n"
  eventually counts_beyond 1
}

# restore [OPTION…]: like create, with pipes for the output, which end in $TMP/printed.
restore() { ocirun restore --detach --bundle "$BUNDLE" "$@" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>"$TMP/errors" 3>&- 4>&- || { cat "$TMP/errors" && return 1; }; }
# restore_fails [OPTION…]: with status 1, and $output says why.
restore_fails() {
  status=0
  restore "$@" >/dev/null || status=$?
  output=$(<"$TMP/errors")
  equal 1 "$status"
}
run_with_pipes() { ocirun run --detach --bundle "$BUNDLE" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>&1 3>&- 4>&-; }

# is_absent: the runtime knows no container $ID.
is_absent() { [[ $(ocirun state "$ID" 2>&1) == *"does not exist"* ]]; }

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
