# shellcheck disable=SC2016,SC2154 # variables of inner shells and of bats
# Many rounds of `checkpoint` and `restore` of one container add nothing up. What needs criu is skipped where `criu check` fails. In a
# machine: ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_rounds.bats
load lib/common
load lib/criu

# A container that has been restored once differs from a new one: criu gives it mounts and descriptors in another order.
belongings() {
  local pid
  pid=$(init_pid)
  descriptors_of "$pid" | sed -E 's/[0-9]{2,}/N/g'
  cut -d' ' -f4- "/proc/$pid/mountinfo" | sed -E 's/(master|shared):[0-9]+/N/g' | sort
  grep -E '^(Cap|NoNewPrivs|Seccomp|Threads|Groups|Umask|SigIgn)' "/proc/$pid/status"
}
of_host() {
  find "$ROOT" -mindepth 1 | sort
  find /sys/fs/cgroup -type d | sort
  cut -d' ' -f4- /proc/mounts
  pgrep -l '^(criu|ocirun)' || true
}

@test "after twenty rounds of checkpoint and restore a container counts on, and nothing has grown" {
  needs_criu
  run_counter
  local round before
  for round in {1..20}; do
    before=$(counted)
    ocirun checkpoint --image-path "$TMP/images" "$ID"
    status_is stopped
    restore --image-path "$TMP/images"
    rm -r "$TMP/images"
    eventually counts_beyond "$before"
    if [[ $round == 1 ]]; then
      belongings >"$TMP/belongings"
      of_host >"$TMP/host"
    fi
  done
  diff "$TMP/belongings" <(belongings)
  diff "$TMP/host" <(of_host)
  equal word "$(ocirun exec "$ID" echo word)"
}

# What criu writes of a process depends on what the process does at that moment: it begins, ends, or has ended and nobody has waited for it.
@test "a busy container is saved again and again, and restored from the last images" {
  needs_criu
  with_python
  python "
import mmap, socket, threading
def step(number):
    threading.Thread(target=lambda: time.sleep(0.004)).start()
    child = os.fork()
    if child == 0:
        if number % 2: os._exit(0)
        os.execv('/usr/bin/true', ['true'])
    with mmap.mmap(-1, 65536) as memory: memory[number % 65536] = 1
    ends = os.pipe()
    pair = socket.socketpair()
    pair[0].send(b'x')
    for end in ends: os.close(end)
    for end in pair: end.close()
    if number % 3 == 0: os.waitpid(child, 0)
    if number % 10 == 0:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]: pass
        except ChildProcessError: pass
time.sleep = (lambda sleep: lambda seconds: sleep(min(seconds, 0.004)))(time.sleep)
count()"
  run_counting
  local round
  for ((round = 0; round < ${OCIRUN_BUSY_ROUNDS:-20}; ++round)); do
    rm -rf "$TMP/images"
    # criu itself may miss a process that ends at that moment.
    ocirun checkpoint --leave-running --image-path "$TMP/images" "$ID" >"$TMP/said" 2>&1 || contains "$TMP/said" "criu failed: "
    if grep "restore" "$TMP/said"; then return 1; fi # a warning that restore would refuse the images
  done
  goes_on
  ocirun checkpoint --image-path "$TMP/last" "$ID"
  restore --image-path "$TMP/last"
  goes_on
}
