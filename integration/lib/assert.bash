# shellcheck shell=bash disable=SC2154 # bats sets status, output and stderr
# What a test says about $status, $output and $stderr of bats' `run`. Each prints what it found, and returns at the first
# that is wrong: before || and in conditions errexit would not do that.

found() {
  echo "found: status $status"
  echo "${output:-(no output)}"
  [[ -z ${stderr:-} ]] || printf 'stderr: %s\n' "$stderr"
  return 1
}

# succeeds [TEXT]: status 0, and the output is exactly TEXT.
succeeds() {
  [[ $status == 0 ]] || { echo "expected success"; found; return 1; }
  [[ $# == 0 ]] || prints "$1"
}

# exits STATUS [WORDS]: with that status, and the output contains the words.
exits() {
  [[ $status == "$1" ]] || { echo "expected status $1"; found; return 1; }
  [[ $# == 1 ]] || mentions "$2"
}

prints() { [[ $output == "$1" ]] || { printf 'expected: %s\n' "$1"; found; }; }
mentions() { [[ $output == *"$1"* ]] || { printf 'expected somewhere: %s\n' "$1"; found; }; }
never_mentions() { [[ $output != *"$1"* ]] || { printf 'expected nowhere: %s\n' "$1"; found; }; }
matches() { [[ $output =~ $1 ]] || { printf 'expected to match: %s\n' "$1"; found; }; }

# equal EXPECTED FOUND
equal() {
  [[ $1 == "$2" ]] || { printf 'expected: %s\nfound:    %s\n' "$1" "$2"; return 1; }
}

# refused WORDS [FILTER [JQ OPTION…]]: `create` of the bundle, edited by the filter, fails with status 1 and a
# message that contains the words (case ignored), and leaves nothing behind. The edit is taken back.
refused() {
  local rc=0
  # shellcheck disable=SC2034 # ours, because the test may have made something of its own before
  local HOST_BEFORE=()
  untraced remember_host
  cp "$BUNDLE/config.json" "$TMP/config.kept"
  [[ $# == 1 ]] || config "${@:2}"
  ocirun create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>"$TMP/errors" 3>&- 4>&- || rc=$?
  cp "$TMP/config.kept" "$BUNDLE/config.json"
  was_refused "$1" "$rc" || { echo "the edit was: ${2:-none}"; return 1; }
}

was_refused() {
  [[ $2 == 1 ]] || { echo "create: expected status 1, found $2"; cat "$TMP/output" "$TMP/errors"; return 1; }
  sed 's/\\"/"/g' "$TMP/errors" | grep -qiF -- "$1" || { echo "expected on stderr: $1"; cat "$TMP/errors"; return 1; }
  [[ ! -s $TMP/output ]] || { echo "unexpected on stdout:"; cat "$TMP/output"; return 1; }
  untraced host_is_unchanged || { print_host_changes; return 1; }
}
