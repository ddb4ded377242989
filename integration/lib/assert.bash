# shellcheck shell=bash disable=SC2154 # bats sets status, output and stderr
# Assertions about $status, $output and $stderr of bats' `run`. A failed assertion prints these and returns 1. Each assertion returns
# explicitly, because errexit does not work before || and in conditions.

fail_with_output() {
  echo "found: status $status"
  echo "${output:-(no output)}"
  [[ -z ${stderr:-} ]] || printf 'stderr: %s\n' "$stderr"
  return 1
}

# succeeds [TEXT]: the status is 0, and the output is exactly TEXT.
succeeds() {
  [[ $status == 0 ]] || { echo "expected success"; fail_with_output; return 1; }
  [[ $# == 0 ]] || prints "$1"
}

# exits STATUS [WORDS]: the status is STATUS, and the output contains WORDS.
exits() {
  [[ $status == "$1" ]] || { echo "expected status $1"; fail_with_output; return 1; }
  [[ $# == 1 ]] || output_mentions "$2"
}

prints() { [[ $output == "$1" ]] || { printf 'expected: %s\n' "$1"; fail_with_output; }; }
output_mentions() { [[ $output == *"$1"* ]] || { printf 'expected somewhere: %s\n' "$1"; fail_with_output; }; }
output_never_mentions() { [[ $output != *"$1"* ]] || { printf 'expected nowhere: %s\n' "$1"; fail_with_output; }; }
matches() { [[ $output =~ $1 ]] || { printf 'expected to match: %s\n' "$1"; fail_with_output; }; }

# equal EXPECTED FOUND
equal() {
  [[ $1 == "$2" ]] || { printf 'expected: %s\nfound:    %s\n' "$1" "$2"; return 1; }
}

# refused WORDS [FILTER [JQ OPTION…]]: edits config.json by the filter of jq and checks that `create` fails with status 1 and a
# message that contains the words (case ignored), and leaves nothing on the host. Then undoes the edit.
refused() {
  local rc=0 kept
  # shellcheck disable=SC2034 # a local one: the test may have changed the host before
  local HOST_BEFORE=()
  untraced remember_host
  read -rd '' kept <"$BUNDLE/config.json" || true
  [[ $# == 1 ]] || config "${@:2}"
  ocirun create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>"$TMP/errors" 3>&- 4>&- || rc=$?
  echo "$kept" >"$BUNDLE/config.json"
  was_refused "$1" "$rc" || { echo "the edit was: ${2:-none}"; return 1; }
}

was_refused() {
  local errors
  [[ $2 == 1 ]] || { echo "create: expected status 1, found $2"; cat "$TMP/output" "$TMP/errors"; return 1; }
  read -rd '' errors <"$TMP/errors" || true
  errors=${errors//\\\"/\"}
  [[ ${errors,,} == *"${1,,}"* ]] || { echo "expected on stderr: $1"; cat "$TMP/errors"; return 1; }
  [[ ! -s $TMP/output ]] || { echo "unexpected on stdout:"; cat "$TMP/output"; return 1; }
  untraced host_is_unchanged || { print_host_changes; return 1; }
}
