# The annotation org.ocirun.core-scheduling: only processes of the container run on the threads of a core at the same time. In a machine
# whose cores have two threads: ./dev vm --engine qemu --smt -- integration/lib/sandbox bats integration/core_scheduling.bats
load lib/common

ASKED='.annotations["org.ocirun.core-scheduling"] = "true"'

# cookie_of PID: prints the cookie, or the name of the error.
cookie_of() {
  python3 - "$1" <<'END'
import ctypes, errno, sys
cookie = ctypes.c_uint64()
libc = ctypes.CDLL(None, use_errno=True)
failed = libc.prctl(62, 0, int(sys.argv[1]), 0, ctypes.byref(cookie))
print(errno.errorcode[ctypes.get_errno()] if failed else cookie.value)
END
}
needs_cookies() { [[ $(cookie_of 0) =~ ^[0-9]+$ ]] || skip "needs a kernel with CONFIG_SCHED_CORE, and cores with several threads"; }

@test "each container has a cookie of its own, which exec shares; inspect tells it" {
  needs_cookies
  config "$ASKED"
  create_and_start
  local first second executed
  first=$(cookie_of "$(init_pid)")
  [[ $first != 0 ]]
  equal 0 "$(cookie_of $$)"
  ocirun exec --detach --pid-file "$TMP/pid" "$ID" sleep 1001
  executed=$(<"$TMP/pid")
  equal "$first" "$(cookie_of "$executed")"
  run ocirun inspect "$ID"
  output_mentions "/annotations/org.ocirun.core-scheduling"
  run ocirun inspect --drift "$ID"
  succeeds
  config '.linux.cgroupsPath += "-second"'
  ocirun run --detach --bundle "$BUNDLE" "$ID-second" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  second=$(cookie_of "$(ocirun state "$ID-second" | jq .pid)")
  [[ $second != 0 && $second != "$first" ]]
  ocirun delete --force "$ID-second"
  config 'del(.annotations) | .linux.cgroupsPath += "-third"'
  ocirun run --detach --bundle "$BUNDLE" "$ID-third" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  equal 0 "$(cookie_of "$(ocirun state "$ID-third" | jq .pid)")"
  ocirun delete --force "$ID-third"
}

@test "a warning says so where the threads of the cores are switched off" {
  local control=/sys/devices/system/cpu/smt/control
  [[ -n ${OCIRUN_VM:-} && $(<$control) == on ]] || skip "switches threads of the machine off: only in a virtual machine whose cores have several"
  config "$ASKED"
  script 'exit 7'
  echo off >$control
  run ocirun run --bundle "$BUNDLE" "$ID"
  echo on >$control
  exits 7 "/annotations/org.ocirun.core-scheduling: has no effect, also later: the threads of the cores are switched off"
}

@test "where the kernel lacks core scheduling, the annotation is refused; where no core has several threads, there is nothing to do" {
  equal "$([[ $(cookie_of 0) == EINVAL ]] && echo false || echo true)" \
    "$(ocirun features | jq -r '.annotations["org.ocirun.core-scheduling"]')"
  case $(cookie_of 0) in
    EINVAL) refused '/annotations/org.ocirun.core-scheduling: needs a kernel with CONFIG_SCHED_CORE' "$ASKED" ;;
    ENODEV) config "$ASKED" && script 'exit 7' && run ocirun run --bundle "$BUNDLE" "$ID" && exits 7 ;;
    *) skip "the cores have several threads" ;;
  esac
}

@test "a value that is neither true nor false is refused" {
  refused '/annotations/org.ocirun.core-scheduling: "1": must be "true" or "false"' '.annotations["org.ocirun.core-scheduling"] = "1"'
}
