# Commands that clone no process, under valgrind: no access to invalid or uninitialized memory, and no leak. Valgrind supports
# neither a static program nor a clone into namespaces: build/dev/ocirun is checked, and $OCIRUN makes the container.
# shellcheck disable=SC2016 # C's
load lib/common

setup() {
  [[ ${OCIRUN_TEST_MEMCHECK:-} ]] || skip "for ./dev test --all, or OCIRUN_TEST_MEMCHECK=1"
  command -v valgrind >/dev/null || skip "valgrind is not installed"
  CHECKED=${OCIRUN_TEST_DYNAMIC:-$REPO/build/dev/ocirun}
  [[ -x $CHECKED ]] || skip "no $CHECKED: ./dev build dev"
  common_setup
}
teardown() { [[ -z ${READY:-} ]] || common_teardown; }

# memcheck COMMAND…: the status is 99 if valgrind has found an error; then prints valgrind's report.
memcheck() {
  run timeout -k 1 60 valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
    --log-file="$TMP/valgrind" "$@"
  if [[ $status == 99 ]]; then cat "$TMP/valgrind"; fi
}

# checked STATUS WORD…: `ocirun WORD…` under valgrind ends with this status.
checked() {
  memcheck "$CHECKED" --root "$ROOT" "${@:2}"
  exits "$1"
}

@test "valgrind finds what these tests would not like to see" {
  printf '%s\n' '#include <stdlib.h>' 'int main(int argc, char **argv) { char *p = malloc(8); if (argc > 1) { int wrong = p[2] == 1; free(p); return wrong; }' \
    'p = 0; return 0; }' >"$TMP/wrong.c"
  cc -g -O0 -o "$TMP/wrong" "$TMP/wrong.c"
  memcheck "$TMP/wrong"
  exits 99
  memcheck "$TMP/wrong" read
  exits 99
}

@test "valgrind: version, help, completion, features, spec and validate" {
  local command document
  checked 0 --version
  checked 0 --help
  for command in create exec update events; do checked 0 "$command" --help; done
  local shell
  for shell in bash zsh fish; do checked 0 completion "$shell"; done
  for command in start exec pod; do checked 0 __complete "$command" ""; done
  checked 0 features
  cd "$TMP"
  checked 0 spec
  checked 1 spec # config.json exists already
  mkdir rootless && cd rootless
  checked 0 spec --rootless
  checked 0 validate "$BUNDLE"
  for document in '{' '[]' '{"ociVersion": 1}' '{"ociVersion": "1.2.0", "mounts": [{"destination": "x", "type": 3}], "linux": {"resources": {"memory": {"limit": 1e99}}}}'; do
    echo "$document" >"$BUNDLE/config.json"
    checked 1 validate "$BUNDLE"
  done
}

@test "valgrind: the specification's documents, good and bad" {
  local document
  [[ ${OCIRUN_SPEC_DIR:-} ]] || skip "OCIRUN_SPEC_DIR is not set"
  while read -r document; do
    cp "$document" "$BUNDLE/config.json"
    memcheck "$CHECKED" validate "$BUNDLE"
    [[ $status == [01] ]] || { echo "$document" && fail_with_output; }
  done < <(find "$OCIRUN_SPEC_DIR" -name '*.json' -path '*config*' -size -64k | sort | head -n 40)
}

@test "valgrind: what asks of a container and changes it" {
  create_and_start
  checked 0 state "$ID"
  checked 0 list
  checked 0 list --format json
  checked 0 list --quiet
  checked 0 ps --format json "$ID"
  checked 0 events --stats "$ID"
  checked 0 update --pids-limit 50 --memory 64M --cpu-quota 50000 --cpu-period 100000 "$ID"
  checked 0 pause "$ID"
  checked 0 resume "$ID"
  checked 0 kill "$ID" KILL
  eventually status_is stopped
  checked 0 state "$ID"
  checked 0 delete "$ID"
  create
  checked 0 delete --force "$ID"
  checked 0 delete --force "$ID"
}

@test "valgrind: errors" {
  local way
  checked 1
  checked 1 strat
  checked 1 state
  checked 1 state absent
  checked 1 state ../../etc
  checked 1 kill absent TERM
  checked 1 delete absent
  checked 1 pause absent
  checked 1 list --format xml
  checked 1 --log-level loud list
  memcheck "$CHECKED" --root / list
  exits 1
  create
  checked 1 kill "$ID" SIGNONE
  checked 1 resume "$ID"
  checked 1 delete "$ID"
  checked 1 update --memory 1Q "$ID"
  checked 1 update --resources - "$ID" # stdin is empty
  for way in '' '{' '[]' '{"id": 3}'; do
    cp "$ROOT/$ID/state.json" "$TMP/kept"
    printf '%s' "$way" >"$ROOT/$ID/state.json"
    checked 1 state "$ID"
    checked 0 list
    cp "$TMP/kept" "$ROOT/$ID/state.json"
  done
}
