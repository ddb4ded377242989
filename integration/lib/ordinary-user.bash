# shellcheck shell=bash disable=SC2016,SC2034 # jq's variables are not the shell's; tests use ours
# For tests as an ordinary user: `worker`, uid 12345. The user is listed in files that are bound over /etc/passwd, /etc/subuid and
# /etc/subgid in the sandbox's mount namespace. `load lib/ordinary-user` after lib/common.

FIRST_UID=300000 FIRST_GID=400000 LENT=65536

setup() { user_setup; }
teardown() { user_teardown; }

user_setup() {
  common_setup
  HOME_DIR=$TMP/home
  mkdir "$HOME_DIR" "$HOME_DIR/xdg"
  cp -a "$BUNDLE" "$HOME_DIR/bundle"
  BUNDLE=$HOME_DIR/bundle ROOT=$HOME_DIR/xdg/ocirun
  config 'del(.linux.resources, .linux.cgroupsPath) | .linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 12345, size: 1}] | .linux.gidMappings = [{containerID: 0, hostID: 12345, size: 1}]
    | (.mounts[] | select(.type == "devpts")).options -= ["gid=5"]'
  program echo fine
  chown -R 12345:12345 "$HOME_DIR"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  introduce_user
  untraced remember_host
}

user_teardown() {
  common_teardown
  umount /etc/passwd /etc/subuid /etc/subgid 2>/dev/null || true
}

# introduce_user: binds files that list `worker` over the host's, in the sandbox's mount namespace.
introduce_user() {
  local name
  cp /etc/passwd "$TMP/passwd"
  echo 'worker:x:12345:12345::/:/bin/sh' >>"$TMP/passwd"
  echo "worker:$FIRST_UID:$LENT" >"$TMP/subuid"
  echo "12345:$FIRST_GID:$LENT" >"$TMP/subgid"
  for name in passwd subuid subgid; do
    [[ -e /etc/$name ]] || skip "there is no /etc/$name to cover"
    mount --bind "$TMP/$name" "/etc/$name"
  done
}

# as_user COMMAND…: runs it as uid 12345, with the environment of a login. user WORD…: that user's `ocirun WORD…`, without --root.
as_user() {
  setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" XDG_RUNTIME_DIR="$HOME_DIR/xdg" \
    OCIRUN="$OCIRUN" BUNDLE="$BUNDLE" ID="$ID" "$@"
}
user() { as_user timeout --foreground 30 "$OCIRUN" "$@"; }

edit_as_user() {
  config "$@"
  chown 12345:12345 "$BUNDLE/config.json"
}

# lend_ids: maps the subordinate ids too, so that the container has all users and groups up to 65536.
lend_ids() {
  edit_as_user '.linux.uidMappings += [{containerID: 1, hostID: $u, size: $n}]
    | .linux.gidMappings += [{containerID: 1, hostID: $g, size: $n}]' \
    --argjson u $FIRST_UID --argjson g $FIRST_GID --argjson n $LENT
}

run_user() { run user run --bundle "$BUNDLE" "$ID"; }
run_detached() { user "$@" run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output; }

# without_programs COMMAND…: runs it where newuidmap and newgidmap are not installed.
without_programs() {
  # shellcheck disable=SC2016
  unshare --mount sh -c 'mkdir "$0/bin" "$0/work" && mount -t overlay -o "lowerdir=/usr/bin,upperdir=$0/bin,workdir=$0/work" bin /usr/bin &&
    rm /usr/bin/newuidmap /usr/bin/newgidmap && exec "$@"' "$TMP" "$@"
}
