# An ordinary user in environments that lack something or are unusual.
# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
load lib/ordinary-user

# in_directory XDG_RUNTIME_DIR: runs a container with its state below this directory.
in_directory() { run as_user env XDG_RUNTIME_DIR="$1" timeout --foreground 30 "$OCIRUN" run --bundle "$BUNDLE" "$ID"; }

@test "an XDG_RUNTIME_DIR that is not there is made, and may be longer than a socket's address" {
  in_directory "$HOME_DIR/xdg/not/there"
  succeeds
  output_mentions fine
  in_directory "$HOME_DIR/xdg/$(printf '%0200d' 0)"
  succeeds
  output_mentions fine
}

@test "an XDG_RUNTIME_DIR that cannot be used is named, with what to do" {
  local advice="choose another with --root or XDG_RUNTIME_DIR"
  in_directory relative # a relative path is ignored: XDG Base Directory Specification
  exits 1 "make the state root /run/user/12345/ocirun ($advice)"
  mkdir -m 755 "$TMP/roots"
  in_directory "$TMP/roots"
  exits 1 "make the state root $TMP/roots/ocirun ($advice): permission denied"
  in_directory "$BUNDLE/config.json"
  exits 1 "open the state root $BUNDLE/config.json/ocirun ($advice): not a directory"
  in_directory "$HOME_DIR/xdg/$(printf '%0300d' 0)"
  exits 1 "($advice): file name too long"
  install -d -o 12345 -m 777 "$HOME_DIR/xdg/open/ocirun"
  in_directory "$HOME_DIR/xdg/open"
  exits 1 "others may write there"
}

@test "RLIMIT_NPROC from 1: a user's run works or says what it could not start, and leaves nothing" {
  local number failures=0
  lend_ids
  for number in 1 2 3 4 6 8 12; do
    run timeout --foreground 30 setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" \
      XDG_RUNTIME_DIR="$HOME_DIR/xdg" prlimit --nproc="$number" "$OCIRUN" run --bundle "$BUNDLE" "$ID"
    if [[ $status == 0 ]]; then
      output_mentions fine
    else
      failures=$((failures + 1))
      exits 1 "resource temporarily unavailable"
    fi
    [[ ! -e $ROOT/$ID ]] || fail_with_output
    equal "" "$(pgrep -u 12345,$FIRST_UID)"
  done
  [[ $failures -gt 0 && $status == 0 ]] || fail_with_output
}

# Before its execve init is not dumpable, so that hidepid hides it even from its own user.
@test "a /proc with hidepid: a user's container is refused with the reason, and nothing is left" {
  local way
  lend_ids
  edit_as_user '.process = (.process | .user = {uid: 1000, gid: 1000} | .args = ["sleep", "1000"])'
  for way in hidepid=1 hidepid=2; do
    mount -o "remount,$way" /proc
    run user run --detach --bundle "$BUNDLE" "$ID"
    mount -o remount,hidepid=0 /proc
    exits 1 "is there, but /proc does not show it: /proc has to be the procfs of this pid namespace, and without hidepid for containers of ordinary users (root: mount -o remount,hidepid=0 /proc)"
    [[ ! -e $ROOT/$ID ]] || fail_with_output
    equal "" "$(pgrep -u 12345,$FIRST_UID)"
  done
}

@test "a /proc with hidepid: a mount that wants the container's user namespace says so too" {
  edit_as_user '.mounts += [{destination: "/mnt", type: "bind", source: "/etc", options: ["rbind", "ro"]}]'
  mount -o remount,hidepid=2 /proc
  run_user
  mount -o remount,hidepid=0 /proc
  exits 1 "is there, but /proc does not show it: /proc has to be the procfs of this pid namespace, and without hidepid for containers of ordinary users (root: mount -o remount,hidepid=0 /proc)"
  [[ $output != *ns/user* ]]
}

# in_shared_root UID COMMAND…: runs `ocirun COMMAND…` as this user on the shared state root.
in_shared_root() {
  local as=$1
  shift
  setpriv --reuid "$as" --regid "$as" --clear-groups env -i PATH="$PATH" timeout --foreground 30 \
    "$OCIRUN" --root "$TMP/shared" "$@"
}

@test "a state root of root's with mode 1777 is shared as /tmp is: ids of others are theirs" {
  mkdir -m 1777 "$TMP/shared"
  chmod 1777 "$TMP/shared"
  edit_as_user '.process.args = ["sleep", "1000"]'
  in_shared_root 12345 run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal 12345 "$(stat -c %u "$TMP/shared/$ID")"
  run in_shared_root 12345 list --quiet
  succeeds "$ID"
  run in_shared_root 12346 list --quiet
  succeeds ""
  run in_shared_root 12346 state "$ID"
  exits 1 "in the shared state root $TMP/shared is not yours: it belongs to user 12345"
  run in_shared_root 12346 kill "$ID" KILL
  exits 1 "is not yours"
  run in_shared_root 12346 delete --force "$ID"
  exits 1 "is not yours"
  run in_shared_root 12346 run --bundle "$BUNDLE" "$ID"
  exits 1 "container with given ID already exists: $ID: it belongs to user 12345"
  run "$OCIRUN" --root "$TMP/shared" run --bundle "$BUNDLE" "$ID"
  exits 1 "container with given ID already exists: $ID: it belongs to user 12345"
  run "$OCIRUN" --root "$TMP/shared" exec "$ID" true
  exits 255 "belongs to user 12345"
  run in_shared_root 12345 exec "$ID" echo inside
  succeeds inside
  run in_shared_root 12345 delete --force "$ID"
  succeeds
  equal "" "$(ls "$TMP/shared")"
}

# forged NAME FILTER [JQ_OPTION…]: makes a state directory NAME of user 12345 in the shared root, with the state.json of container $ID,
# edited by the filter.
forged() {
  local name=$1 filter=$2
  shift 2
  mkdir -p "$TMP/shared/$name"
  jq "$@" ".initPid = 0 | .cgroupManager = \"disabled\" | $filter" "$ROOT/$ID/state.json" >"$TMP/shared/$name/state.json"
  cp "$ROOT/$ID/config.json" "$TMP/shared/$name/"
  chown -R 12345:12345 "$TMP/shared/$name"
}

@test "what another user writes into a shared state root names no other container, no other owner, and draws nothing" {
  mkdir -m 1777 "$TMP/shared"
  chmod 1777 "$TMP/shared"
  create
  forged evil '.id = "web\u001b[2J" | .ownerUid = 0'
  forged twin ".id = \"$ID\""
  forged rows '.id = "rows" | .bundle = "/x\nroot-ctr   1   running" | .ownerUid = 0'
  run "$OCIRUN" --root "$TMP/shared" list
  succeeds
  equal 4 "$(wc -l <<<"$output")"
  local owner
  owner=$(id -un 12345 2>/dev/null) || owner=#12345
  grep -qE "^evil .* $owner\$" <<<"$output"
  grep -qE "^twin .* $owner\$" <<<"$output"
  grep -qE "^rows .*x0aroot-ctr.* $owner\$" <<<"$output"
  [[ $output != *$'\e'* ]]
  run "$OCIRUN" --root "$TMP/shared" state twin
  exits 1 "its files are those of another container"
  run "$OCIRUN" --root "$TMP/shared" delete --force twin
  succeeds
  status_is created
}

@test "a foreign state that is large, deep or locked for ever keeps root's commands for a moment at most" {
  mkdir -m 1777 "$TMP/shared"
  chmod 1777 "$TMP/shared"
  create
  forged large '.id = "large"'
  head -c 8M /dev/zero | tr '\0' ' ' >>"$TMP/shared/large/state.json"
  run "$OCIRUN" --root "$TMP/shared" state large
  exits 1 "file too large"
  forged deep '.id = "deep"'
  python3 -c 'import os, sys
os.chdir(sys.argv[1])
for level in range(3000): os.mkdir("d"); os.chdir("d")' "$TMP/shared/deep"
  run bash -c 'ulimit -s 512; "$0" --root "$1" delete --force deep' "$OCIRUN" "$TMP/shared"
  exits 1 "lie more than 8 deep"
  forged locked '.id = "locked"'
  helper flock "$TMP/shared/locked" sh -c 'echo held; exec sleep 1000'
  eventually contains "$TMP/helper.log" held
  run timeout 60 "$OCIRUN" --root "$TMP/shared" delete --force locked
  exits 1 "another command works on this container (waited 1 s "
  python3 -c 'import os, sys
os.chdir(sys.argv[1])
for level in range(3000): os.chdir("d")
for level in range(3000): os.chdir(".."); os.rmdir("d")' "$TMP/shared/deep"
}

@test "L-9 the host's root, and groups that nobody lends, are refused by newuidmap and newgidmap" {
  lend_ids
  local part program
  cp "$BUNDLE/config.json" lent.json
  for part in uid gid; do
    program=/linux/${part}Mappings
    for host in 0 4294967000 $((12345 + 1)); do
      cp lent.json "$BUNDLE/config.json"
      edit_as_user ".linux.${part}Mappings += [{containerID: 70000, hostID: \$host, size: 1}]" --argjson host "$host"
      run_user
      exits 1 "$program: new${part}map refused the mapping: host id $host is not all yours"
      equal '' "$(user list -q)"
    done
  done
}
