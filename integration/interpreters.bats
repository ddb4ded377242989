load lib/common

# Messages for errors that execve does not explain: which file is missing, and why the kernel cannot execute a file.

# executable PATH TEXT: makes an executable file in the container.
executable() {
  mkdir -p "$(dirname "$BUNDLE/rootfs$1")"
  printf '%b' "$2" >"$BUNDLE/rootfs$1"
  chmod 0755 "$BUNDLE/rootfs$1"
}

# hook KIND PATH: makes PATH the document's only hook.
hook() { config '.hooks = {($k): [{path: $p}]}' --arg k "$1" --arg p "$2"; }

missing="/no/such/python3"
in_container="its interpreter $missing does not exist in the container: no such file or directory"
on_host="its interpreter $missing does not exist on the host: no such file or directory"

@test "P-6 a missing interpreter is named by run, start and exec, in one line" {
  executable /bin/script "#!$missing -u\n"
  create_and_start
  run ocirun exec "$ID" /bin/script
  exits 255 "exec /bin/script: $in_container"
  equal 1 "${#lines[@]}"
  run ocirun exec "$ID" script # found in $PATH
  exits 255 "exec /bin/script: $in_container"
  ocirun delete --force "$ID"
  program /bin/script
  run_container
  exits 1 "exec /bin/script: $in_container"
  equal 1 "${#lines[@]}"
  create
  run ocirun start "$ID"
  exits 1 "exec /bin/script: $in_container"
}

@test "P-6 an interpreter that is missing for another user and below another directory is named too" {
  executable /srv/script '#!tools/run\n'
  config '.process.user = {uid: 1000, gid: 1000} | .process.cwd = "/srv"'
  program ./script
  run_container
  exits 1 "exec ./script: its interpreter tools/run does not exist in the container"
  executable /srv/tools/run "#!$missing\n"
  run_container
  exits 1 "exec ./script: the interpreter $missing of tools/run does not exist in the container: no such file or directory"
}

@test "P-6 a script whose line ends in CR LF: the interpreter is shown with what nobody sees" {
  executable /bin/script '#!/bin/sh\r\necho fine\r\n'
  program /bin/script
  run_container
  exits 1 'its interpreter /bin/sh\x0d does not exist in the container (its #! line ends in CR LF): no such file or directory'
}

@test "P-6 a missing loader of a dynamic program is named" {
  local tool
  tool=$(readlink -f "$(type -P bash)")
  cp "$tool" "$BUNDLE/rootfs/bin/dynamic"
  program /bin/dynamic
  run_container
  exits 1
  matches 'exec /bin/dynamic: its loader /lib[^ ]+ does not exist in the container: no such file or directory'
  executable /bin/script '#!/bin/dynamic\n'
  program /bin/script
  run_container
  exits 1
  matches 'exec /bin/script: the loader /lib[^ ]+ of its interpreter /bin/dynamic does not exist in the container: no such'
}

@test "P-6 a program for another machine, and what is no program, are told as that" {
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/bin/foreign"
  printf '\053\0' | dd of="$BUNDLE/rootfs/bin/foreign" bs=1 seek=18 conv=notrunc status=none # EM_SPARCV9
  executable /bin/text 'echo ran\n'
  executable /bin/nameless '#!\n'
  program /bin/foreign
  run_container
  exits 1 "exec /bin/foreign: it is a program for sparc64: exec format error"
  program /bin/text
  run_container
  exits 1 "exec /bin/text: it is neither a program for this machine nor a script with a #! line: exec format error"
  program /bin/nameless
  run_container
  exits 1 "exec /bin/nameless: it has no interpreter on its #! line, or one of more than 253 bytes: exec format error"
  program sleep 1000
  create_and_start
  run ocirun exec "$ID" /bin/foreign
  exits 255 "exec /bin/foreign: it is a program for sparc64: exec format error"
}

@test "P-6 an interpreter without an x bit, one that is a directory and one on a noexec mount are named, also of a hook" {
  local cause
  executable /bin/script '#!/etc/tool\n'
  program /bin/script
  executable /etc/tool '#!/bin/sh\n'
  chmod 0640 "$BUNDLE/rootfs/etc/tool"
  run_container
  exits 1 "exec /bin/script: its interpreter /etc/tool has no x bit for user 0 (its mode is 0640: chmod +x in the image or volume): permission denied"
  executable /bin/outer '#!/bin/script\n'
  program /bin/outer
  run_container
  exits 1 "exec /bin/outer: the interpreter /etc/tool of /bin/script has no x bit for user 0 (its mode is 0640: "
  program /bin/script
  executable /bin/script '#!/etc\n'
  run_container
  exits 1 "exec /bin/script: its interpreter /etc is a directory, not a program: permission denied"
  executable /bin/script '#!/noexec/busybox\n'
  add_mount '{"destination": "/noexec", "type": "bind", "source": "rootfs/bin", "options": ["bind", "noexec"]}'
  run_container
  exits 1 "exec /bin/script: its interpreter /noexec/busybox lies on a mount with the option noexec: permission denied"
  echo '#!/bin/sh' >"$TMP/hook"
  cause="it has no x bit for user 0 (its mode is 0644: chmod +x): permission denied"
  program sleep 1000
  hook createRuntime "$TMP/hook"
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "error running createRuntime hook #0 ($TMP/hook): exec $TMP/hook: $cause"
  chmod +x "$TMP/hook"
  create
}

# The container's process reads the file to explain the error, and its seccomp filter may refuse that or kill the process.
@test "P-6 a filter that keeps the process from reading leaves the kernel's reason" {
  local action call privileges
  executable /bin/script "#!$missing\n"
  program /bin/script
  for privileges in true false; do
    config '.process.noNewPrivileges = $n' --argjson n "$privileges"
    for action in SCMP_ACT_ERRNO SCMP_ACT_KILL_PROCESS SCMP_ACT_KILL_THREAD SCMP_ACT_TRAP; do
      for call in openat pread64; do
        config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: [$c], action: $a}]}' \
          --arg a "$action" --arg c "$call"
        run_container
        exits 1 "exec /bin/script: no such file or directory"
      done
    done
    for call in statfs geteuid; do # of a file without an x bit, of which nothing is asked
      config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: [$c], action: "SCMP_ACT_KILL_PROCESS"}]}' --arg c "$call"
      refused 'exec: "/etc/passwd": permission denied' '.process.args = ["/etc/passwd"]'
    done
    config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
    run_container
    exits 1 "exec /bin/script: $in_container"
    refused 'exec: "/etc/passwd": it has no x bit for user 0' '.process.args = ["/etc/passwd"]'
  done
}

@test "P-6 a program that its user may execute and not read is not explained" {
  executable /bin/script "#!$missing\n"
  chmod 0711 "$BUNDLE/rootfs/bin/script"
  config '.process.user = {uid: 1000, gid: 1000}'
  program /bin/script
  run_container
  exits 1 "exec /bin/script: no such file or directory"
}

@test "H-1 a hook's missing interpreter is named, on the host but for startContainer" {
  local kind tool=$TMP/hook
  printf '#!%s\n' "$missing" >"$tool"
  chmod 0755 "$tool"
  executable "$missing" '#!/bin/sh\n' # exists in the container only: hooks in the host's root do not find it
  for kind in prestart createRuntime createContainer; do
    hook "$kind" "$tool"
    attempt create --bundle "$BUNDLE" "$ID"
    exits 1 "error running $kind hook #0 ($tool): exec $tool: $on_host"
  done
  hook poststart "$tool"
  create
  attempt start "$ID"
  exits 1 "error running poststart hook #0 ($tool): exec $tool: $on_host"
  hook poststop "$tool"
  create
  attempt delete --force "$ID"
  exits 0 "error running poststop hook #0 ($tool): exec $tool: $on_host"
}

@test "H-1 a startContainer hook's missing interpreter is named as one of the container" {
  executable /bin/hook "#!$missing\n"
  hook startContainer /bin/hook
  create
  attempt start "$ID"
  exits 1 "error running startContainer hook #0 (/bin/hook): exec /bin/hook: $in_container"
  ocirun delete --force "$ID"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["openat"], action: "SCMP_ACT_KILL_PROCESS"}]}'
  config '.process.noNewPrivileges = true'
  create
  attempt start "$ID"
  exits 1 "error running startContainer hook #0 (/bin/hook): exec /bin/hook: no such file or directory"
}
