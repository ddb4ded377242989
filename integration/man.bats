# The pages in man/ and the program's --help have the same commands and options. Needs the program, but not the sandbox.

setup() {
  cd "$BATS_TEST_DIRNAME/.." || return
  OCIRUN=${OCIRUN:-$PWD/build/release/ocirun}
  [[ -x $OCIRUN ]] || { echo "no runtime at $OCIRUN: ./dev build, or set OCIRUN" >&2; return 1; }
}

# Both functions print a sorted list of options, one a line: "-b --bundle value", "--force". Commands of `pod` share options.
options_of_help() { # [COMMAND]
  "$OCIRUN" "$@" --help |
    sed -nE '/^  (-.,|   ) --/{s/^ +//; s/, / /; s/(--[a-z0-9-]+) [^ ].*/\1 value/; s/(--[a-z0-9-]+)\[=.*/\1 value/; s/(--[a-z0-9-]+)  .*/\1/; p}' | sort -u
}
options_of_page() { # COMMAND, or nothing for ocirun(8)
  sed -nE '/^\.It Fl/{s/^\.It //; s/Fl -([a-z0-9-]+)/--\1/; s/Fl (.) , /-\1 /; s/ Ns Op .*| Ar .*/ value/; p}' "man/ocirun${1:+-$1}.8" | sort -u
}
commands() { "$OCIRUN" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }

same() { # PAGE ITS-LIST THE-PROGRAM'S
  diff <(echo "$3") <(echo "$2") || { echo "$1: > page, < program"; return 1; }
}

@test "the global options of --help are those of ocirun(8)" {
  [[ $(options_of_help | wc -l) -ge 10 ]]
  same ocirun.8 "$(options_of_page)" "$(options_of_help)"
}

@test "each command has a page, and its options are those of the command's --help" {
  local command
  [[ $(commands | wc -l) -ge 15 ]]
  for command in $(commands); do
    [[ -f man/ocirun-$command.8 ]] || { echo "no man/ocirun-$command.8"; return 1; }
    same "ocirun-$command.8" "$(options_of_page "$command")" "$(options_of_help "$command")"
  done
}

@test "there is no page of a command that does not exist, and ocirun(8) names each that does" {
  local page command
  for page in man/ocirun-*.8; do
    command=${page#man/ocirun-}
    commands | grep -qx "${command%.8}" || { echo "$page has no command"; return 1; }
  done
  same ocirun.8 "$(sed -n '/^\.Sh COMMANDS/,/^\.El/s/^\.It Cm \([a-z]*\).*/\1/p' man/ocirun.8)" "$(commands)"
}

@test "the pages have no fault that man can see" {
  command -v man >/dev/null || skip "needs man"
  local page found
  for page in man/*.[78]; do
    found=$(MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
    [[ -z $found ]] || { echo "$page: $found"; return 1; }
  done
}

@test "the pages have no fault that mandoc can see" {
  command -v mandoc >/dev/null || skip "needs mandoc"
  local found
  found=$(mandoc -Tlint man/*.[78] | grep -v 'referenced manual not found\|outdated mandoc.db lacks' || true)
  [[ -z $found ]] || { echo "$found"; return 1; }
}
