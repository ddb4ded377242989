# AppArmor and SELinux, enforced by the kernel. Where a module is off, its tests are skipped, and the tests of its absence run.
# `./dev vm -- …` has AppArmor, `./dev vm --lsm selinux -- …` has SELinux in enforcing mode.
load lib/common

# --- AppArmor ----------------------------------------------------------------------------------------

apparmor_is_on() { [[ $(cat /sys/module/apparmor/parameters/enabled 2>/dev/null) == Y ]]; }

# needs_apparmor: loads the profiles $WALL and $OTHER, which allow everything but reading /secret and /other. teardown unloads them.
needs_apparmor() {
  apparmor_is_on || skip "this kernel has no AppArmor, or it is off"
  command -v apparmor_parser >/dev/null || skip "apparmor_parser is missing"
  WALL=${ID}wall OTHER=${ID}other
  profiles | apparmor_parser --skip-cache --replace
  for name in secret other; do echo "of $name" >"$BUNDLE/rootfs/$name"; done
  chmod 644 "$BUNDLE"/rootfs/{secret,other}
}

profiles() {
  local name=secret profile
  for profile in "$WALL" "$OTHER"; do
    echo "profile $profile flags=(attach_disconnected, mediate_deleted) {
      capability, network, mount, umount, pivot_root, signal, ptrace, unix,
      file,
      deny /$name r,
    }"
    name=other
  done
}

teardown() {
  local profile
  common_teardown
  for profile in ${WALL:-} ${OTHER:-}; do printf %s "$profile" >/sys/kernel/security/apparmor/.remove || true; done
}

profile() { config '.process.apparmorProfile = $p' --arg p "$1"; }

# The files' modes let everybody read both files.
REPORT='cat /proc/self/attr/current; cat /secret; cat /other'
WALLED="cat: can't open '/secret': Permission denied"
OTHER_WALLED="cat: can't open '/other': Permission denied"

@test "P-9 a profile confines the process and its children, and what it denies is denied to root" {
  needs_apparmor
  profile "$WALL"
  inside "$REPORT"
  prints "$WALL (enforce)"$'\n'"$WALLED"$'\nof other'
}

@test "P-9 P-13 a profile is entered with no_new_privs and without, as root and as a user" {
  needs_apparmor
  local value uid
  profile "$WALL"
  for value in true false; do
    for uid in 0 1000; do
      config ".process.noNewPrivileges = $value | .process.user.uid = $uid"
      inside "$REPORT"
      prints "$WALL (enforce)"$'\n'"$WALLED"$'\nof other'
    done
  done
}

@test "P-9 a profile is entered below a seccomp filter, in a user namespace and without a /proc" {
  needs_apparmor
  profile "$WALL"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
  user_namespace
  config 'del(.mounts[] | select(.destination == "/proc")) | del(.linux.maskedPaths, .linux.readonlyPaths)'
  inside 'mkdir /tmp/x; cat /secret; cat /other'
  prints "mkdir: can't create directory '/tmp/x': Operation not permitted"$'\n'"$WALLED"$'\nof other'
}

@test "P-9 CVE-2019-16884 an image's own /proc takes no profile away" {
  needs_apparmor
  profile "$WALL"
  mkdir -p "$TMP/fake/self/attr/apparmor" "$TMP/fake/thread-self/attr/apparmor" "$TMP/fake/1/attr/apparmor"
  touch "$TMP"/fake/{self,thread-self,1}/attr/{,apparmor/}{exec,current}
  config '(.mounts[] | select(.destination == "/proc")) = {destination: "/proc", type: "none", source: $s, options: ["bind"]}
    | del(.linux.maskedPaths, .linux.readonlyPaths)' --arg s "$TMP/fake"
  inside 'cat /secret; cat /other'
  [[ $status != 0 ]] || prints "$WALLED"$'\nof other'
  output_never_mentions "of secret"
}

@test "P-9 without a profile, and with \"unconfined\", the process is as confined as its caller" {
  needs_apparmor
  inside "$REPORT"
  succeeds $'unconfined\nof secret\nof other'
  profile unconfined
  inside "$REPORT"
  succeeds $'unconfined\nof secret\nof other'
}

@test "P-9 a profile that is not loaded is refused by name, says what to do, and leaves nothing" {
  needs_apparmor
  refused "/process/apparmorProfile: set \"${ID}absent\" (the profile is not loaded: load it with apparmor_parser)" \
    '.process.apparmorProfile = $p' --arg p "${ID}absent"
  profile "$WALL" # the failed create has freed the id
  inside "$REPORT"
  output_mentions "$WALL (enforce)"
}

@test "P-9 a profile of a created container holds although it is replaced before start" {
  needs_apparmor
  profile "$WALL"
  script "exec >/said 2>&1; $REPORT"
  create
  profiles | sed "s,deny /.*,deny /* r\\,," | apparmor_parser --skip-cache --replace
  start
  eventually status_is stopped
  equal "$WALL (enforce)"$'\n'"$WALLED"$'\n'"$OTHER_WALLED" "$(<"$BUNDLE/rootfs/said")"
}

# executed WORD…: runs $REPORT by `exec` with these options.
executed() { run ocirun exec "$@" "$ID" sh -c "exec 2>&1; $REPORT"; }

@test "P-9 exec enters the container's profile, or the one of --apparmor" {
  needs_apparmor
  profile "$WALL"
  create_and_start
  executed
  prints "$WALL (enforce)"$'\n'"$WALLED"$'\nof other'
  executed --no-new-privs --user 1000
  prints "$WALL (enforce)"$'\n'"$WALLED"$'\nof other'
  executed --apparmor "$OTHER"
  prints "$OTHER (enforce)"$'\n'"of secret"$'\n'"$OTHER_WALLED"
  executed --apparmor unconfined
  succeeds $'unconfined\nof secret\nof other'
  executed --apparmor "${ID}absent"
  exits 255 "/process/apparmorProfile: set \"${ID}absent\" (the profile is not loaded"
  status_is running
}

# process_file FILTER: writes $TMP/process.json for exec --process, as a client does.
process_file() {
  jq ".process | .args = [\"sh\", \"-c\", \$t] | $1" --arg t "exec 2>&1; $REPORT" "$BUNDLE/config.json" >"$TMP/process.json"
}

@test "P-9 exec --process enters the file's profile, and the container's when it names none" {
  needs_apparmor
  profile "$WALL"
  create_and_start
  process_file ".apparmorProfile = \"$OTHER\""
  run ocirun exec --process "$TMP/process.json" "$ID"
  prints "$OTHER (enforce)"$'\n'"of secret"$'\n'"$OTHER_WALLED"
  process_file 'del(.apparmorProfile)'
  run ocirun exec --process "$TMP/process.json" "$ID"
  prints "$WALL (enforce)"$'\n'"$WALLED"$'\nof other'
  process_file '.apparmorProfile = "unconfined"'
  run ocirun exec --process "$TMP/process.json" "$ID"
  succeeds $'unconfined\nof secret\nof other'
}

@test "P-9 where AppArmor is off a profile is refused by name, for create and exec; \"unconfined\" is not" {
  ! apparmor_is_on || skip "AppArmor is on here"
  refused '/process/apparmorProfile: "web" was asked for, but AppArmor is off on this host; remove the field' \
    '.process.apparmorProfile = "web"'
  profile unconfined
  create_and_start
  run ocirun exec --apparmor web "$ID" true
  exits 255 '/process/apparmorProfile: "web" was asked for, but AppArmor is off'
  run ocirun exec --apparmor unconfined "$ID" true
  succeeds ""
}

# --- SELinux -----------------------------------------------------------------------------------------

# needs_selinux: labels the rootfs with the categories c1 and c2, which the container has.
needs_selinux() {
  [[ -e /sys/fs/selinux/enforce ]] || skip "this kernel has no SELinux, or it is off"
  [[ $(</sys/fs/selinux/enforce) == 1 ]] || skip "SELinux is permissive here"
  knows_type container_t || skip "the loaded policy has no type container_t"
  chcon -R "$(files c1,c2)" "$BUNDLE/rootfs"
  config '.process.selinuxLabel = $p | .linux.mountLabel = $f' --arg p "$(label c1,c2)" --arg f "$(files c1,c2)"
}

knows_type() { printf %s "system_u:system_r:$1:s0" >/sys/fs/selinux/context; }
label() { echo "system_u:system_r:container_t:s0:$1"; }
files() { echo "system_u:object_r:container_file_t:s0:$1"; }

# label_of PATH: prints the label of a file in the container.
label_of() { stat -L -c %C "/proc/$(init_pid)/root$1"; }

MY_LABEL='tr -d "\0" </proc/self/attr/current; echo'

@test "P-16 P-13 the process and its children have the label, with no_new_privs and without, as root and as a user" {
  needs_selinux
  local value uid
  for value in true false; do
    for uid in 0 1000; do
      config ".process.noNewPrivileges = $value | .process.user.uid = $uid"
      inside "$MY_LABEL"
      succeeds "$(label c1,c2)"
    done
  done
}

@test "L-34 mountLabel is the label of each filesystem that takes one, and of what is made there" {
  needs_selinux
  mkdir "$TMP/bound"
  chcon "$(files c9)" "$TMP/bound"
  add_mount '{"destination": "/mnt", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"]}'
  add_mount '{"destination": "/bound", "source": "'"$TMP/bound"'", "options": ["bind"]}'
  add_mount '{"destination": "/etc", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}'
  config '.linux.maskedPaths += ["/sys/kernel"]'
  script 'echo x >/dev/shm/made && mkdir /mnt/made; exec sleep 1000'
  create_and_start
  eventually exists "/proc/$(init_pid)/root/mnt/made"
  local path
  for path in /dev /dev/shm /dev/pts /dev/mqueue /mnt /dev/null /etc/passwd /dev/shm/made /mnt/made /sys/kernel; do
    equal "$path $(files c1,c2)" "$path $(label_of $path)"
  done
  # sysfs and procfs label their files themselves; a bound directory keeps its labels.
  equal system_u:object_r:sysfs_t:s0 "$(label_of /sys)"
  equal system_u:object_r:proc_t:s0 "$(label_of /proc)"
  equal "$(files c9)" "$(label_of /bound)"
}

@test "L-34 an option that says another context wins, quoted or not" {
  needs_selinux
  add_mount '{"destination": "/one", "type": "tmpfs", "source": "tmpfs", "options": ["context='"$(files c1)"'"]}'
  add_mount '{"destination": "/two", "type": "tmpfs", "source": "tmpfs", "options": ["context=\"'"$(files c1,c3)"'\""]}'
  add_mount '{"destination": "/three", "type": "tmpfs", "source": "tmpfs", "options": ["rootcontext='"$(files c2)"'"]}'
  create_and_start
  equal "$(files c1)" "$(label_of /one)"
  equal "$(files c1,c3)" "$(label_of /two)"
  equal "$(files c2)" "$(label_of /three)"
}

@test "L-34 without a mountLabel the container may not write to its own tmpfs: the label is what lets it" {
  needs_selinux
  inside 'echo x >/dev/shm/made && echo made'
  succeeds made
  config 'del(.linux.mountLabel)'
  inside 'echo x >/dev/shm/made && echo made'
  output_mentions "Permission denied"
}

@test "L-34 the message queues of the host keep their label when the container shares them" {
  needs_selinux
  local before after
  mkdir "$TMP/queues"
  mount -t mqueue mqueue "$TMP/queues"
  before=$(stat -c %C "$TMP/queues")
  drop_namespace ipc
  create_and_start
  after=$(stat -c %C "$TMP/queues")
  umount "$TMP/queues"
  equal system_u:object_r:tmpfs_t:s0 "$before"
  equal "$before" "$after"
}

@test "L-34 mounts in a user namespace have the label too" {
  needs_selinux
  user_namespace
  create_and_start
  local path
  for path in /dev /dev/shm /dev/pts /dev/mqueue; do equal "$path $(files c1,c2)" "$path $(label_of $path)"; done
}

# A label contains commas, which mount(2) takes for separators of options: it must be quoted.
@test "L-34 a kernel before Linux 5.2 gets the same labels, from mountLabel and from options, quoted or not" {
  needs_selinux
  local path
  add_mount '{"destination": "/mnt", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755", "size=1m"]}'
  add_mount '{"destination": "/one", "type": "tmpfs", "source": "tmpfs", "options": ["context='"$(files c1,c3)"'", "size=1m"]}'
  add_mount '{"destination": "/two", "type": "tmpfs", "source": "tmpfs", "options": ["context=\"'"$(files c1,c3)"'\"", "mode=755"]}'
  add_mount '{"destination": "/three", "type": "tmpfs", "source": "tmpfs", "options": ["rootcontext='"$(files c1,c3)"'"]}'
  "$LIB/without" fsopen -- "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  for path in /dev /dev/shm /dev/pts /dev/mqueue /mnt; do equal "$path $(files c1,c2)" "$path $(label_of $path)"; done
  for path in /one /two /three; do equal "$path $(files c1,c3)" "$path $(label_of $path)"; done
  equal "755 755" "$(stat -L -c %a "/proc/$(init_pid)/root/mnt" "/proc/$(init_pid)/root/two" | xargs)"
}

@test "P-16 L-34 two containers of different categories cannot read each other's files, although DAC allows it" {
  needs_selinux
  mkdir -m 755 "$TMP/mine" "$TMP/yours"
  echo mine >"$TMP/mine/file"
  echo yours >"$TMP/yours/file"
  chcon -R "$(files c1,c2)" "$TMP/mine"
  chcon -R "$(files c3,c4)" "$TMP/yours"
  add_mount '{"destination": "/mine", "source": "'"$TMP/mine"'", "options": ["bind"]}'
  add_mount '{"destination": "/yours", "source": "'"$TMP/yours"'", "options": ["bind"]}'
  inside 'cat /mine/file; cat /yours/file'
  prints $'mine\ncat: can\'t open \'/yours/file\': Permission denied'
  chcon -R "$(files c3,c4)" "$BUNDLE/rootfs"
  config '.process.selinuxLabel = $p | .linux.mountLabel = $f' --arg p "$(label c3,c4)" --arg f "$(files c3,c4)"
  inside 'cat /mine/file; cat /yours/file'
  prints $'cat: can\'t open \'/mine/file\': Permission denied\nyours'
}

@test "P-16 exec has the container's label, or that of --process-label or of the process file" {
  needs_selinux
  create_and_start
  run ocirun exec "$ID" sh -c "$MY_LABEL"
  succeeds "$(label c1,c2)"
  run ocirun exec --process-label "$(label c1,c2,c5)" "$ID" sh -c "$MY_LABEL"
  succeeds "$(label c1,c2,c5)"
  REPORT=$MY_LABEL process_file "del(.selinuxLabel)"
  run ocirun exec --process "$TMP/process.json" "$ID"
  succeeds "$(label c1,c2)"
  REPORT=$MY_LABEL process_file ".selinuxLabel = \"$(label c1,c2,c6)\""
  run ocirun exec --process "$TMP/process.json" "$ID"
  succeeds "$(label c1,c2,c6)"
  run ocirun exec --process-label system_u:system_r:no_such_t:s0 "$ID" true
  exits 255 '/process/selinuxLabel: set "system_u:system_r:no_such_t:s0" (the loaded policy does not know this label)'
  status_is running
}

# copy_perl: copies perl into the rootfs, because busybox has no keyctl, and perl can make any system call by number.
copy_perl() {
  local file
  for file in $(ldd /usr/bin/perl | grep -oE '/[^ ]+') /usr/bin/perl; do
    install -D "$file" "$BUNDLE/rootfs$file"
  done
}

@test "P-16 the session keyring has the label, of init and of exec" {
  copy_perl
  needs_selinux
  [[ $(uname -m) == x86_64 ]] || skip "the call's number is x86_64's"
  # keyctl(KEYCTL_GET_SECURITY, KEY_SPEC_SESSION_KEYRING, text, 200)
  local show='$text = " " x 200; $size = syscall 250, 17, -3, $text, 200; print $size > 0 ? substr($text, 0, $size - 1) : "$!\n"'
  program /usr/bin/perl -e "$show"
  run_container
  succeeds "$(label c1,c2)"
  program sleep 1000
  create_and_start
  run ocirun exec --process-label "$(label c1,c2,c5)" "$ID" /usr/bin/perl -e "$show"
  succeeds "$(label c1,c2,c5)"
}

@test "P-16 a label that the policy does not know is refused by name, and leaves nothing" {
  needs_selinux
  refused '/process/selinuxLabel: set "system_u:system_r:no_such_t:s0" (the loaded policy does not know this label)' \
    '.process.selinuxLabel = "system_u:system_r:no_such_t:s0"'
  refused '/process/selinuxLabel: set "nonsense"' '.process.selinuxLabel = "nonsense"'
}

@test "L-34 a mountLabel that the policy does not know is refused by name, and leaves nothing" {
  needs_selinux
  refused '/linux/mountLabel: "nonsense"' '.linux.mountLabel = "nonsense"'
}

@test "P-16 L-34 where SELinux is off a label is refused by name, for create and exec; a mountLabel only warns" {
  [[ ! -e /sys/fs/selinux/enforce ]] || skip "SELinux is on here"
  refused '/process/selinuxLabel: "a:b:c:s0" was asked for, but SELinux is off on this host; remove the field' \
    '.process.selinuxLabel = "a:b:c:s0"'
  config '.linux.mountLabel = "a:b:c:s0"'
  create
  contains "$TMP/output" /linux/mountLabel
  start
  run ocirun exec --process-label a:b:c:s0 "$ID" true
  exits 255 '/process/selinuxLabel: "a:b:c:s0" was asked for, but SELinux is off'
}
