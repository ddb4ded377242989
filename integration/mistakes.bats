# Mistakes in command lines and documents, and messages that help.
load lib/common

# valid_with WARNING FILTER [keep]: edits config.json by the filter; `validate` prints the warning and accepts the document. Undoes
# the edit unless `keep` is given.
valid_with() {
  cp "$BUNDLE/config.json" "$TMP/config.kept"
  config "$2"
  run ocirun validate "$BUNDLE"
  succeeds
  output_mentions "warning: $1"
  output_mentions "config.json is valid"
  [[ $# == 3 ]] || cp "$TMP/config.kept" "$BUNDLE/config.json"
}

@test "D-4 validate tells of unknown names, and nobody else does" {
  valid_with '/proces: unknown name, ignored (did you mean process?)' '.proces = {}'
  valid_with '/process/argz: unknown name, ignored (did you mean args?)' '.process.argz = 1'
  valid_with '/linux/resources/memory/limits: unknown name, ignored (did you mean limit?)' \
    '.linux.resources.memory.limits = 5'
  valid_with '/hooks/createruntime: unknown name, ignored (did you mean createRuntime?)' '.hooks.createruntime = []'
  valid_with '/linux/seccomp/syscalls/0/names/0: unknown system call "chmodd": ignored' \
    '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["chmodd"], action: "SCMP_ACT_ERRNO"}]}' keep
  program echo fine
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds fine
  equal "" "$stderr"
}

@test "P-10 an unknown capability: run and validate name the capability that was meant" {
  local pair
  for pair in CAP_NETADMIN=CAP_NET_ADMIN NET_RAW=CAP_NET_RAW cap_sys-chroot=CAP_SYS_CHROOT CapMknod=CAP_MKNOD CAP_KIL=CAP_KILL; do
    valid_with "/process/capabilities/bounding/0: unknown capability \"${pair%=*}\": it is not granted (did you mean ${pair#*=}?)" \
      ".process.capabilities.bounding = [\"${pair%=*}\"]"
  done
  config '.process.capabilities = {bounding: ["CAP_NETADMIN", "CAP_FUTURE"]}'
  program echo fine
  run ocirun run --bundle "$BUNDLE" "$ID"
  succeeds
  output_mentions '/process/capabilities/bounding/0: unknown capability "CAP_NETADMIN": it is not granted (did you mean CAP_NET_ADMIN?)'
  matches 'unknown capability "CAP_FUTURE": it is not granted($|[^ ])'
  output_mentions fine
}

@test "R-1 validate warns of a cgroupsPath in systemd's form without --systemd-cgroup" {
  config '.process.user.umask = 18'
  valid_with '/linux/cgroupsPath: "user.slice:ocirun:web1" looks like systemd' '.linux.cgroupsPath = "user.slice:ocirun:web1"' keep
  run ocirun --systemd-cgroup validate "$BUNDLE"
  succeeds "config.json is valid"
  config '.linux.cgroupsPath = "/a:b:c"'
  run ocirun validate "$BUNDLE"
  succeeds "config.json is valid"
}

@test "R-1 create and run warn of a cgroupsPath of systemd's form without systemd" {
  program echo fine
  config '.linux.cgroupsPath = $p' --arg p "user.slice:ocirun:$ID"
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds fine
  [[ $stderr == *"/linux/cgroupsPath: \"user.slice:ocirun:$ID\" looks like systemd's slice:prefix:name"*"--systemd-cgroup"* ]]
  run --separate-stderr ocirun --cgroup-manager disabled run --bundle "$BUNDLE" "$ID"
  succeeds fine
  [[ $stderr != *looks* ]]
}

@test "a low ulimit -n is named, with the number that is needed" {
  program echo fine
  local number
  for number in 6 12 20 28; do
    (
      # bats' descriptors (3 and above) count against the limit until ocirun closes them.
      ulimit -Sn "$number"
      exec "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
    ) >"$TMP/out" 2>&1 </dev/null 3>&- 4>&- && continue
    contains "$TMP/out" "too many open files (ulimit -n is $number: ocirun needs 64)"
  done
  (
    ulimit -Sn 64
    exec "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  ) >"$TMP/out" 2>&1 </dev/null 3>&- 4>&-
  equal fine "$(cat "$TMP/out")"
}

@test "P-20 validate notes once that a document without a umask keeps the caller's" {
  config 'del(.process.user.umask)'
  run ocirun validate "$BUNDLE"
  succeeds
  equal 1 "$(grep -c '/process/user/umask' <<<"$output")"
  output_mentions "note: /process/user/umask: absent, so the process keeps the umask of whoever calls create or run"
  config '.process.user.umask = 18'
  run ocirun validate "$BUNDLE"
  succeeds "config.json is valid"
  config 'del(.process)'
  run ocirun validate "$BUNDLE"
  succeeds
  [[ $output != *umask* ]]
}

@test "the specification's good documents have no name that validate does not know" {
  [[ -n ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  local file
  for file in "$OCIRUN_SPEC_DIR"/schema/test/config/good/*.json; do
    cp "$file" "$BUNDLE/config.json"
    run ocirun validate "$BUNDLE"
    succeeds
    output_never_mentions unknown
  done
}

@test "JSON ends with a newline" {
  local command
  create
  for command in "state $ID" "list -f json" "ps -f json $ID" features; do
    # shellcheck disable=SC2086 # words
    ocirun $command >"$TMP/json"
    equal "" "$(tail -c 1 "$TMP/json")"
  done
}

@test "an option at the wrong place: the error names the right place" {
  run "$OCIRUN" list --root /x
  exits 1 "--root is an option of ocirun itself: it stands before the command"
  run "$OCIRUN" state --debug web1
  exits 1 "--debug is an option of ocirun itself: it stands before the command"
  run "$OCIRUN" kill web1 -9
  exits 1 "the signal is an operand: ocirun kill ID 9"
  run "$OCIRUN" kill -KILL web1
  exits 1 "the signal is an operand: ocirun kill ID KILL"
}

@test "letters may stand together: an unknown one is named, and the last alone may take a value" {
  run "$OCIRUN" exec -itx web1 sh
  exits 255 "unknown option -x in -itx; see --help"
  run "$OCIRUN" exec -ixt web1 sh
  exits 255 "unknown option -x in -ixt; see --help"
  run "$OCIRUN" exec -itu0 web1 sh
  exits 255 "unknown option -itu0 (did you mean -it -u 0?); see --help"
  run "$OCIRUN" exec -itu
  exits 255 "--user: a value (UID[:GID]) is missing"
  run "$OCIRUN" list -qf json
  succeeds ""
  run "$OCIRUN" list -qf tabel
  exits 1 "tabel"
}

@test "a command or an option with a typing mistake is told what was meant" {
  run "$OCIRUN" craete --bundle "$BUNDLE" "$ID"
  exits 1 'unknown command "craete" (did you mean create?)'
  run "$OCIRUN" rm "$ID"
  exits 1 'unknown command "rm" (did you mean delete?)'
  run "$OCIRUN" foo
  exits 1 'unknown command "foo"; see'
  run "$OCIRUN" --rot "$ROOT" list
  exits 1 "unknown option --rot (did you mean --root?)"
  attempt create --bunlde "$BUNDLE" "$ID"
  exits 1 "unknown option --bunlde (did you mean --bundle?)"
  attempt delete -farce "$ID"
  exits 1 "unknown option -farce (did you mean --force?)"
  run "$OCIRUN" frobnicate
  exits 1 'unknown command "frobnicate"; see'
}

@test "a missing operand points at --help, and help COMMAND is COMMAND --help" {
  run "$OCIRUN" run
  exits 1 "see ocirun run --help"
  run "$OCIRUN" create
  exits 1 "see ocirun create --help"
  run "$OCIRUN" help run
  succeeds "$("$OCIRUN" run --help)"
  run "$OCIRUN" help nosuch
  exits 1 nosuch
}

@test "run with a word that is no bundle says what it took it for" {
  run ocirun run nosuch
  exits 1 "config.json not found in $TMP (\"nosuch\" was taken as the id; a bundle is written ./nosuch)"
  run ocirun run --bundle "$TMP" nosuch
  exits 1 "config.json not found in $TMP"
  output_never_mentions "was taken as the id"
  cd "$BUNDLE"
  program echo fine
  run ocirun run "$ID"
  succeeds fine
}

@test "exec with the name of a user wants a number, and no errno is blamed" {
  create_and_start
  run ocirun exec -u root "$ID" id
  exits 255 "must be a number from 0 to 4294967294"
  output_never_mentions "invalid argument"
}

@test "spec names the directory that is missing, and no temporary file" {
  run ocirun spec -b "$TMP/nosuch"
  exits 1 "the directory $TMP/nosuch does not exist"
  mkdir -m 555 "$TMP/mine"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  run setpriv --reuid 1000 --clear-groups "$OCIRUN" spec -b "$TMP/mine"
  exits 1 "permission denied"
  output_never_mentions ".config.json."
}

@test "validate wants the directory, and names the one that it looked into" {
  run ocirun validate "$BUNDLE/config.json"
  exits 1 "give the directory that holds config.json"
  run ocirun validate
  exits 1 "config.json not found in $TMP"
}

@test "run tells the first mistake of several, and what lists the others" {
  config '.process.cwd = "x" | .process.args = [] | .hostname = 5'
  run ocirun run "$BUNDLE"
  exits 1 "(2 more: ocirun validate $BUNDLE)"
}

@test "P-8 L-35 a limit and a sysctl that the kernel refuses are named by pointer" {
  config '.process.rlimits = [{type: "RLIMIT_CORE", soft: 0, hard: 0}, {type: "RLIMIT_NOFILE", soft: 9999999999, hard: 9999999999}]'
  attempt run --bundle "$BUNDLE" "$ID"
  exits 1 "/process/rlimits/1: set RLIMIT_NOFILE"
  output_mentions "sysctl fs.nr_open"
  run setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource prlimit --nofile=512:512 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  exits 1 "at most the hard limit of the process that starts the runtime, 512, which CAP_SYS_RESOURCE on the host raises up to the sysctl fs.nr_open"
  config 'del(.process.rlimits)'
  refused "/linux/sysctl/kernel.shmmni: set to \"none\"" '.linux.sysctl = {"kernel.shmmni": "none"}'
}

# mount_refused WORDS DESTINATION SOURCE [TYPE [OPTION…]]: `create` refuses this mount, the eighth, with the words behind "/mounts/7: mount ".
mount_refused() {
  refused "/mounts/7: mount $1" '.mounts += [{destination: $d, source: $s, type: $t, options: $ARGS.positional}]' \
    --arg d "$2" --arg s "$3" --arg t "${4:-bind}" --args -- "${@:5}"
}

@test "M-3 a mount that fails: the error tells the source from the destination" {
  local plain="$TMP/file" loop=/loop/x words source
  mkdir "$TMP/dir"
  echo text >"$plain"
  ln -s loop "$BUNDLE/rootfs/loop"
  # The source. The name of the destination is not repeated where the source has the same.
  for words in bind rbind rslave; do mount_refused "/data: open the source: no such file or directory" /data /data bind rbind "$words"; done
  mount_refused "/data: open the source /none: no such file or directory" /data /none bind rbind
  mount_refused "/data: open the source $plain/x: not a directory" /data "$plain/x" bind rbind
  mount_refused "$plain/x: open the source: not a directory" "$plain/x" "$plain/x" bind rbind
  refused "/mounts/7: mount /data: open the source: no such file or directory" '.mounts += [{destination: "/data", source: "/data", options: ["bind"],
    uidMappings: [{containerID: 0, hostID: 5, size: 1}], gidMappings: [{containerID: 0, hostID: 5, size: 1}]}]'
  mount_refused "/data: filesystem \"ext4\" of the source /none" /data /none ext4
  # The destination.
  for source in "$TMP/dir" "$plain"; do
    mount_refused "/etc/passwd/x: the destination: open" /etc/passwd/x "$source" bind bind
    mount_refused "$loop: the destination: " "$loop" "$source" bind bind
    mount_refused "/proc/none: the destination: " /proc/none "$source" bind bind
    mount_refused "/sys/none: the destination: " /sys/none "$source" bind bind
  done
  mount_refused "/sys/none: the destination: none: make directory: read-only file system" /sys/none tmpfs tmpfs
  # Both, which do not fit each other.
  mount_refused "/etc/passwd: bind $TMP/dir: a directory cannot be mounted on a file: not a directory" /etc/passwd "$TMP/dir" bind bind
  mount_refused "/etc: bind $plain: a file cannot be mounted on a directory: not a directory" /etc "$plain" bind bind
  ! has_system_call fsopen || mount_refused "/etc/passwd: tmpcopyup: the destination is a file: not a directory" /etc/passwd tmpfs tmpfs tmpcopyup
}

@test "M-3 an overlay that fails: the error names the option" {
  local option
  has_system_call fsopen || skip "mount(2) tells the options together"
  mkdir "$TMP"/{lower,upper}
  for option in "lowerdir=/none" "lowerdir=/data" "upperdir=/none" "workdir=/none"; do
    # The last value of an option counts.
    mount_refused "/data: filesystem \"overlay\": option \"$option\": " /data overlay overlay "lowerdir=$TMP/lower" "$option"
  done
}

@test "a path that does not exist is named with the pointer or the option that gives it" {
  local plain="$TMP/file" text
  echo text >"$plain"
  mkdir "$TMP/dir"
  ln -s loop "$BUNDLE/rootfs/loop"
  refused "/linux/namespaces/1/path: join the network namespace: open /none: no such" '.linux.namespaces[1].path = "/none"'
  refused "/root/path: open $BUNDLE/none as the root directory: no such" '.root.path = "none"'
  refused "/root/path: open $plain as the root directory: not a directory" '.root.path = $p' --arg p "$plain"
  refused "/linux/maskedPaths/5: mask /loop: " '.linux.maskedPaths += ["/loop"]'
  refused "/linux/readonlyPaths/5: make /loop read-only: " '.linux.readonlyPaths += ["/loop"]'
  refused "/linux/devices/0: device /etc/passwd/x: " '.linux.devices = [{path: "/etc/passwd/x", type: "c", major: 1, minor: 3}]'
  refused "/linux/devices/0: device /loop/x: " '.linux.devices = [{path: "/loop/x", type: "c", major: 1, minor: 3}]'
  refused "/process/cwd: change to /etc/passwd: not a directory" '.process.cwd = "/etc/passwd"'
  refused 'exec: "/none": stat /none: no such' '.process.args = ["/none"]'
  for text in prestart createRuntime createContainer; do
    refused "error running $text hook #0 (/none): exec /none: no such" '.hooks[$k] = [{path: "/none"}]' --arg k "$text"
  done
  refused "/linux/seccomp/listenerPath: connect to /none: no such" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/none",
    syscalls: [{names: ["chmod"], action: "SCMP_ACT_NOTIFY"}]}'
  # path_refused WORDS OPTION…
  path_refused() {
    attempt create --bundle "$BUNDLE" "${@:2}" "$ID"
    exits 1 "create $ID: $1"
  }
  path_refused "bundle: open /none: no such file or directory" --bundle /none
  path_refused "bundle: $plain: give the directory that holds config.json" --bundle "$plain"
  path_refused "--pid-file: write /none/pid: no such file or directory" --pid-file /none/pid
  path_refused "--pid-file: write $plain/pid: not a directory" --pid-file "$plain/pid"
  path_refused "--pid-file: write $TMP/dir: rename the new file to this name: is a directory" --pid-file "$TMP/dir"
  config '.process.terminal = true'
  path_refused "--console-socket: connect to /none: no such file or directory" --console-socket /none
}

@test "no word is said twice" {
  run "$OCIRUN" completion tcsh
  exits 1 "completion tcsh: must be bash, zsh or fish"
  run "$OCIRUN" --log /nosuch/x list
  exits 1 "--log: open /nosuch/x: no such file or directory"
  output_never_mentions "open the log file"
}

@test "the other programs are found in the libexec of the prefix that the runtime lies in" {
  [[ ! -e /usr/local/libexec/ocirun ]] || skip "ocirun is installed where it was built for"
  mkdir -p "$TMP/prefix/bin" "$TMP/prefix/libexec/ocirun"
  cp "$OCIRUN" "$TMP/prefix/bin/"
  ip link add nda type veth peer name nda-peer
  config '.linux.netDevices = {nda: {}}'
  OCIRUN=$TMP/prefix/bin/ocirun inside 'ls /sys/class/net | xargs'
  exits 1
  output_mentions "$TMP/prefix/bin/../libexec/ocirun"
  cp "$(dirname "$OCIRUN")/ocirun-netdevice" "$TMP/prefix/libexec/ocirun/"
  OCIRUN=$TMP/prefix/bin/ocirun inside 'ls /sys/class/net | xargs'
  succeeds "lo nda"
  ip link del nda-peer 2>/dev/null || true
}

@test "S-1 if seccomp forbids execve, the error says that the profile must allow it" {
  config '.process.noNewPrivileges = true | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [{names: ["execve"], action: "SCMP_ACT_ERRNO", args: [{index: 0, value: 0, op: "SCMP_CMP_NE"}]}]}'
  attempt run --bundle "$BUNDLE" "$ID"
  exits 1 "(/linux/seccomp must allow execve)"
}

@test "the examples of ocirun(8) work as they are written" {
  command -v chroot jq >/dev/null
  sed -n '/^\.Sh EXAMPLES/,/^\.Sh DIAGNOSTICS/{/^\.Bd/,/^\.Ed/{/^\./d; s/\\(aq/'\''/g; p}}' "$REPO/man/ocirun.8" |
    grep -v '^ocirun run' >"$TMP/examples"
  mkdir "$TMP/here"
  cd "$TMP/here"
  # shellcheck source=/dev/null
  (set -e && source "$TMP/examples") </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  contains "$TMP/output" "sleep 1000"
  contains "$TMP/output" "config.json is valid"
}

@test "S-12 a filter that kills the container's process while it is made is named, not a message of the protocol" {
  config '.process.noNewPrivileges = false | .linux.seccomp = {defaultAction: "SCMP_ACT_KILL_PROCESS",
    syscalls: [{names: ["write", "execve"], action: "SCMP_ACT_ALLOW"}]}'
  refused "was killed by signal 31 (SIGSYS) while its seccomp filter was loaded (/linux/seccomp must allow the calls that follow"
}

@test "an id that is taken: run and create tell how to name another one, and how to be rid of that container" {
  create
  mv "$BUNDLE" "$TMP/$ID"
  run ocirun run "$TMP/$ID"
  exits 1 "container with given ID already exists: $ID: choose another id (\`ocirun run --bundle BUNDLE ID\`)"
  output_mentions "\`ocirun --root $ROOT delete --force $ID\`"
  run ocirun run "$TMP/$ID" "$ID-2"
  exits 1 "\"$ID-2\" is one operand too many: run takes BUNDLE | [--bundle BUNDLE] ID"
  mv "$TMP/$ID" "$BUNDLE"
}

@test "an id that is nowhere: the error names the state root" {
  run ocirun exec "$ID" true
  exits 255 "container does not exist (in the state root $ROOT; --root names another one)"
  run "$OCIRUN" --root "$TMP/nowhere" state "$ID"
  exits 1 "container does not exist (in the state root $TMP/nowhere; --root names another one)"
}

@test "list passes over directories that are no container's, and shows damaged ones" {
  mkdir -p "$ROOT/letters" "$ROOT/damaged" "$ROOT/empty"
  touch "$ROOT/letters/from-mother"
  echo "{" >"$ROOT/damaged/state.json"
  run ocirun list
  succeeds
  output_mentions damaged
  output_mentions empty
  output_never_mentions letters
  rm -r "$ROOT/letters" "$ROOT/damaged" "$ROOT/empty"
}

@test "a terminal that nobody takes: create and run --detach say what a program in the background wants" {
  config '.process.terminal = true'
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "/process/terminal: true wants --console-socket"
  output_mentions "or false, for a program that needs no terminal"
}

@test "exec of an option, in a removed root file system, and with an empty or a whole document" {
  create_and_start
  run ocirun exec "$ID" --env A=b true
  exits 255 'executable file not found in $PATH (an option stands before the container'"'s id)"
  run ocirun exec --process - "$ID" </dev/null
  exits 255 "standard input is empty"
  jq '{process}' "$BUNDLE/config.json" >"$TMP/whole"
  run ocirun exec --process "$TMP/whole" "$ID"
  exits 255 'the document must be the value of "process" in config.json'
  echo '{"cwd": "x", "args": []}' >"$TMP/process"
  run ocirun exec --process "$TMP/process" "$ID"
  exits 255 /cwd
  output_mentions /args
  rm -r --one-file-system "$BUNDLE/rootfs" 2>/dev/null || true
  if [[ ! -e $BUNDLE/rootfs ]]; then
    run ocirun exec "$ID" true
    exits 255 "has been removed from the host"
  fi
}

@test "spec writes a document that validate has no note on" {
  mkdir "$TMP/new" "$TMP/new/rootfs"
  ocirun spec --bundle "$TMP/new"
  run ocirun validate "$TMP/new"
  succeeds "config.json is valid"
}

@test "run and exec tell that a program was killed for want of memory" {
  local words="the program was killed: out of memory: raise /linux/resources/memory/limit, which is 20971520 bytes"
  config '.linux.resources.memory = {limit: 20971520, swap: 20971520}'
  program sh -c 'tail /dev/zero'
  run_container
  exits 137 "$words"
  program sleep 1000
  create_and_start
  run ocirun exec "$ID" sh -c 'kill -KILL $$'
  exits 137
  output_never_mentions memory
  jq '.process | .args = ["tail", "/dev/zero"] | .oomScoreAdj = 1000' "$BUNDLE/config.json" >"$TMP/process"
  run ocirun exec --process "$TMP/process" "$ID"
  exits 137 "$words"
}

@test "dev bats with a name that no test has is an error" {
  run "$REPO/dev" bats "$REPO/integration/kill.bats" -f 'no test has this name'
  exits 1 "no test matches"
}
