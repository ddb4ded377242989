# The filter for the system calls of a pod's containers: the default one, and --seccomp.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# app_container CAPABILITY…: a manifest of one app that keeps these capabilities; for options that OAM does not have.
app_container() {
  local isolators='[]'
  [[ $# == 0 ]] || isolators=$(jq -nc '[{name: "os/linux/capabilities-retain-set", value: {set: $ARGS.positional}}]' --args "$@")
  cat >app.yaml <<END
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [{"name": "app", "image": {"name": "example.com/app", "id": "sha512-..."},
  "app": {"exec": ["/bin/sh", "-c", $(jq -Rs . <script)], "user": "0", "group": "0", "isolators": $isolators}}], "volumes": []}
END
}

@test "a container cannot make namespaces, mount, read keys or change its personality; threads and sockets work" {
  container app 'unshare -U true; echo "unshare $?"; mkdir -p /m; mount -t tmpfs none /m; echo "mount $?"
    setarch x86_64 -R true; echo "setarch $?"; nc -l -p 1 -w 1 127.0.0.1 </dev/null; (sleep 0.01 & wait; echo subshell)
    grep Seccomp: /proc/self/status'
  run run_pod --restart never
  for line in 'unshare 1' 'mount [1-9]' subshell $'Seccomp:\t2'; do like "$line" "$(<output)"; done
  like 'unshare: .*Operation not permitted' "$(<output)"
  run run_pod --restart never --seccomp unconfined
  like 'unshare 0' "$(<output)"
  like $'Seccomp:\t0' "$(<output)"
}

@test "a capability of the container allows its calls" {
  echo 'mkdir -p /m; mount -t tmpfs none /m && echo mounted' >script
  app_container CAP_SYS_ADMIN
  run run_pod --image "app=$TMP/images:base"
  equal mounted "$(<output)"
  run run_pod --image "app=$TMP/images:base" --user 1000
  has 'mount: ' "$(<output)"
  equal '' "$(grep mounted output)"
}

@test "--seccomp FILE is an object of the form of linux.seccomp, and nothing else" {
  container app 'mkdir /new; echo "mkdir $?"'
  echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 28}]}' >profile
  run run_pod --restart never --seccomp profile
  like 'mkdir 1' "$(<output)"
  has 'No space left on device' "$(<output)"
  echo '{"defaultAction": "SCMP_ACT_ALLOW", "archMap": []}' >profile
  run run_pod --seccomp profile
  equal 1 "$status"
  has '--seccomp profile: the profile must be an object of the form of linux.seccomp in config.json: /archMap: unknown name' "$(<output)"
  run run_pod --seccomp none
  has '--seccomp none: open none: no such file or directory' "$(<output)"
  equal "" "$(pod_names)"
}

@test "plan writes the filter, which runc takes too, and Debian's shell and python3 run below it" {
  local debian
  container app true
  pod plan --images images -o out app.yaml
  equal SCMP_ACT_ERRNO "$(jq -r .linux.seccomp.defaultAction out/app/config.json)"
  [[ ! -x $(command -v runc) ]] || runc --root "$TMP/runc" run --bundle out/app "$ID"
  debian=$("$LIB/debian-rootfs" --print) || skip "no Debian rootfs: run integration/lib/debian-rootfs where a mirror is reached"
  config '.root = {path: $d, readonly: true} | .linux.seccomp = $c[0].linux.seccomp' --arg d "$debian" --slurpfile c out/app/config.json
  inside 'python3 -c "
import errno, socket, subprocess, threading
t = threading.Thread(target=lambda: print(6 * 7)); t.start(); t.join()
print(subprocess.run([\"id\", \"-u\"], capture_output=True, text=True).stdout.strip())
socket.socket(socket.AF_INET6).close()
for family in 40, 38:
  try: socket.socket(family, socket.SOCK_STREAM)
  except OSError as problem: print(family, errno.errorcode[problem.errno])
"'
  succeeds $'42\n0\n40 EAFNOSUPPORT\n38 EAFNOSUPPORT'
}
