# An ordinary user whose surroundings lack something, or are odd.
# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
load lib/ordinary-user

# in_directory XDG_RUNTIME_DIR: a run, with the state there.
in_directory() { run as_user env XDG_RUNTIME_DIR="$1" timeout --foreground 30 "$OCIRUN" run --bundle "$BUNDLE" "$ID"; }

@test "an XDG_RUNTIME_DIR that is not there is made, and may be longer than a socket's address" {
  in_directory "$HOME_DIR/xdg/not/there"
  succeeds
  mentions fine
  in_directory "$HOME_DIR/xdg/$(printf '%0200d' 0)"
  succeeds
  mentions fine
}

@test "an XDG_RUNTIME_DIR that cannot be used is named, with what to do" {
  local advice="choose another with --root or XDG_RUNTIME_DIR"
  in_directory relative # as good as none: XDG Base Directory Specification
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
      mentions fine
    else
      failures=$((failures + 1))
      exits 1 "resource temporarily unavailable"
    fi
    [[ ! -e $ROOT/$ID ]] || found
    equal "" "$(pgrep -u 12345,$FIRST_UID)"
  done
  [[ $failures -gt 0 && $status == 0 ]] || found
}

# Until execve init is nobody's to trace, so hidepid keeps even its own user from telling it from another process.
@test "a /proc with hidepid: a user's container is refused with the reason, and nothing is left" {
  local way
  lend_ids
  edit_as_user '.process = (.process | .user = {uid: 1000, gid: 1000} | .args = ["sleep", "1000"])'
  for way in hidepid=1 hidepid=2; do
    mount -o "remount,$way" /proc
    run user run --detach --bundle "$BUNDLE" "$ID"
    mount -o remount,hidepid=0 /proc
    exits 1 "is there, but /proc does not show it: is procfs mounted, and without hidepid?"
    [[ ! -e $ROOT/$ID ]] || found
    equal "" "$(pgrep -u 12345,$FIRST_UID)"
  done
}
