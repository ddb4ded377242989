# shellcheck shell=bash disable=SC2016,SC2034,SC2119,SC2120 # as in lint.bats; functions with optional arguments
# What the tests of `checkpoint` and `restore` share.

# crit is a Python program. Debian recommends its module to who installs criu, so that it may be missing.
needs_crit() {
  command -v crit >/dev/null || skip "crit is not installed"
  crit --help >/dev/null 2>&1 || skip "crit does not run: its Python module is missing (python3-pycriu)"
}
needs_criu() { criu check >/dev/null 2>&1 || skip "criu does not work under this kernel"; }

# broken_criu: a program at $TMP/criu that ends at once. For tests of what comes before criu, on hosts without a criu.
broken_criu() {
  printf '#!/bin/sh\nexit 3\n' >"$TMP/criu"
  chmod 755 "$TMP/criu"
}

# counter: a program that writes how often it has counted to /tmp/n.
counter() { script 'i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; sleep 0.05; done'; }
counted() { cat "$BUNDLE/rootfs/tmp/n"; }
counts_beyond() { [[ $(counted) -gt $1 ]]; }

# restore [OPTION…]: like create, with pipes for the output, which end in $TMP/printed.
restore() { ocirun restore --detach --bundle "$BUNDLE" "$@" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>"$TMP/errors" 3>&- 4>&- || { cat "$TMP/errors" && return 1; }; }
# restore_fails [OPTION…]: with status 1, and $output says why.
restore_fails() {
  status=0
  restore "$@" >/dev/null || status=$?
  output=$(<"$TMP/errors")
  equal 1 "$status"
}
# in_cgroup PATH: init is in that cgroup of the unified hierarchy, or of the memory controller where that has a hierarchy of its own.
in_cgroup() {
  local hierarchy=0:
  if has_v1 memory; then hierarchy='[0-9]*:memory'; fi
  equal "$1" "$(sed -n "s|^$hierarchy:||p" "/proc/$(init_pid)/cgroup")"
}
differs() { [[ $(readlink "$1") != "$(readlink "$2")" ]]; }
run_with_pipes() { ocirun run --detach --bundle "$BUNDLE" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>&1 3>&- 4>&-; }
# run_counting: a running container that counts, whose program has been set. run_counter: with the program of counter().
run_counting() {
  rm -f "$BUNDLE/rootfs/tmp/n"
  run_with_pipes
  eventually exists "$BUNDLE/rootfs/tmp/n"
  eventually counts_beyond 1
}
run_counter() {
  counter
  run_counting
}

# forge STATEMENT: edits the image of the container's first process by crit. The Python statement changes `core`.
forge() { forge_image core-1.img "core = images['entries'][0]; $1"; }
# forge_image IMAGE STATEMENT: edits an image. The Python statement changes `images`.
forge_image() {
  needs_crit
  local edit="import json, sys; images = json.load(sys.stdin); $2; json.dump(images, sys.stdout)"
  crit decode -i "$TMP/checkpoint/$1" | python3 -c "$edit" >"$TMP/image.json"
  crit encode -i "$TMP/image.json" -o "$TMP/checkpoint/$1"
}
