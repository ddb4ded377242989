# The script `dev`: its help.
load lib/common

@test "each command of dev prints its help at once: it installs and builds nothing" {
  local command tool
  mkdir "$TMP/bin"
  for tool in apt-get cmake debootstrap; do
    printf '#!/bin/sh\necho "%s was called" >>%s; exit 1\n' "$tool" "$TMP/called" >"$TMP/bin/$tool"
    chmod 755 "$TMP/bin/$tool"
  done
  export PATH=$TMP/bin:$PATH
  for command in build demo test part bats vm bench clients fuzz package coverage format; do
    for option in --help -h; do
      run "$LIB/../../dev" "$command" "$option"
      succeeds
      [[ -n $output ]] || fail_with_output
    done
    run "$LIB/../../dev" help "$command"
    succeeds
  done
  run "$LIB/../../dev" --help
  succeeds
  output_mentions "./dev vm [OPTION…] -- COMMAND…"
  [[ ! -e $TMP/called ]] || { cat "$TMP/called" && false; }
  run "$LIB/../../dev" no-such-command
  exits 2 "./dev build [PRESET]"
}
