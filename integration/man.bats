# The pages in man/ and the program's --help have the same commands and options. Needs the program, but not the sandbox.

setup() {
  cd "$BATS_TEST_DIRNAME/.." || return
  OCIRUN=${OCIRUN:-$PWD/build/release/ocirun}
  [[ -x $OCIRUN ]] || { echo "no runtime at $OCIRUN: ./dev build, or set OCIRUN" >&2; return 1; }
}

# The functions print a sorted list of options, one a line: "-b --bundle value", "--force".
options_of_help() { # [COMMAND...]
  "$OCIRUN" "$@" --help |
    sed -nE '/^  (-.,|   ) --/{s/^ +//; s/, / /; s/(--[a-z0-9-]+) [^ ].*/\1 value/; s/(--[a-z0-9-]+)\[=.*/\1 value/; s/(--[a-z0-9-]+)  .*/\1/; p}' | sort -u
}
options_of_page() { # of the page at standard input
  sed -nE '/^\.It Fl/{s/^\.It //; s/Fl -([a-z0-9-]+)/--\1/; s/Fl (.) , /-\1 /; s/ Ns Op .*| Ar .*/ value/; p}' | sort -u
}
# commands [pod]: `ocirun --help` has one in each line, `ocirun pod --help` several, with two blanks behind them.
commands() {
  if [[ $* == pod ]]; then
    "$OCIRUN" pod --help | sed -nE 's/^  ([a-z]+( [a-z]+)*)  .*/\1/p' | tr ' ' '\n'
  else
    "$OCIRUN" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
  fi
}
has_pods() { [[ -x ${OCIRUN%/*}/ocirun-pod ]]; }

# section PAGE HEADING: prints the section or subsection.
section() {
  awk -v heading="$2" '/^\.S[hs] /{if ($1 == ".Sh" || level == ".Ss") level = ""; if (substr($0, 5) == heading) level = $1} level != ""' "$1"
}

# page_of COMMAND: the page that describes the command of `pod`. Another name of a page is a file with the line ".so".
page_of() {
  local page=man/ocirun-pod-$1.8 other
  other=$(sed -n 's|^\.so man8/|man/|p' "$page") && echo "${other:-$page}"
}

# options_of_pod_page COMMAND: those that the page lists, and those of other pages that it names.
options_of_pod_page() {
  local page
  page=$(page_of "$1")
  {
    if grep -q "^\.Ss $1\$" "$page"; then section "$page" "$1"; else cat "$page"; fi
    [[ $1 == validate || $1 == export ]] || cat man/ocirun-pod.8
    [[ $1 != plan && $1 != export ]] || section man/ocirun-pod-run.8 "OPTIONS THAT COMPLETE A DOCUMENT"
    [[ $1 != unit ]] || cat man/ocirun-pod-run.8
  } | options_of_page
}

# left_out: the commands that this build leaves out by OCIRUN_CRIU=OFF, one a line.
left_out() { "$OCIRUN" checkpoint x 2>&1 | grep -q OCIRUN_CRIU=OFF && printf '%s\n' checkpoint restore; }
# documented: the commands that ocirun(8) and the pages have, in the order of ocirun(8).
documented() { sed -n '/^\.Sh COMMANDS/,/^\.El/s/^\.It Cm \([a-z]*\).*/\1/p' man/ocirun.8 | grep -vxFf <(left_out); }

same() { # PAGE ITS-LIST THE-PROGRAM'S
  diff <(echo "$3") <(echo "$2") || { echo "$1: > page, < program"; return 1; }
}

@test "the global options of --help are those of ocirun(8)" {
  [[ $(options_of_help | wc -l) -ge 10 ]]
  same ocirun.8 "$(options_of_page <man/ocirun.8)" "$(options_of_help)"
}

@test "each command has a page, and its options are those of the command's --help" {
  local command
  [[ $(commands | wc -l) -ge 15 ]]
  for command in $(commands); do
    [[ -f man/ocirun-$command.8 ]] || { echo "no man/ocirun-$command.8"; return 1; }
    [[ $command != pod ]] || continue # the next test
    same "ocirun-$command.8" "$(options_of_page <"man/ocirun-$command.8")" "$(options_of_help "$command")"
  done
}

@test "each command of pod is on one page, and its options are those of the command's --help" {
  has_pods || skip "this build has no pods"
  local command
  [[ $(commands pod | wc -l) -ge 20 ]]
  for command in $(commands pod); do
    [[ -f man/ocirun-pod-$command.8 ]] || { echo "no man/ocirun-pod-$command.8"; return 1; }
    same "pages of $command" "$(grep -lxE "\.Nm ocirun-pod-$command( ,)?" man/*.[78])" "$(page_of "$command")"
    same "$(page_of "$command"): $command" "$(options_of_pod_page "$command")" "$(options_of_help pod "$command")"
  done
  same ocirun-pod.8 "$(section man/ocirun-pod.8 COMMANDS | sed -n 's/^\.It Cm \([a-z]*\)$/\1/p' | sort)" "$(commands pod | sort)"
}

@test "man shows a page for the name of each command" {
  command -v man >/dev/null || skip "needs man"
  local command
  mkdir "$BATS_TEST_TMPDIR/man8"
  cp man/*.8 "$BATS_TEST_TMPDIR/man8"
  for command in $(commands) $(! has_pods || commands pod | sed 's/^/pod-/'); do
    man -M "$BATS_TEST_TMPDIR" 8 "ocirun-$command" | grep -qE "\bocirun-$command\b" || { echo "man 8 ocirun-$command"; return 1; }
  done
}

@test "each page of ocirun that a page, a message or a document names is there" {
  local page section missing=0
  while read -r page section; do
    [[ -e man/$page.$section ]] || { echo "there is no $page($section)"; missing=1; }
  done < <(git grep -ohE '^\.Xr ocirun[a-z-]* [1-9]|\bocirun[a-z-]*\([1-9]\)' -- . ':!integration/man.bats' |
    sed 's/^\.Xr //; s/(\(.\))/ \1/' | sort -u)
  ((missing == 0))
}

@test "there is no page of a command that does not exist, and ocirun(8) names each that does" {
  local page command
  for page in man/ocirun-*.8; do
    command=${page#man/ocirun-} command=${command%.8}
    ! grep -qx "$command" <(left_out) || continue
    if [[ $command != pod-* ]]; then
      commands | grep -qx "$command" || { echo "$page has no command"; return 1; }
    elif has_pods; then
      commands pod | grep -qx "${command#pod-}" || { echo "$page has no command"; return 1; }
    fi
  done
  same ocirun.8 "$(documented)" "$(commands)"
}

@test "the pages have no fault that man can see" {
  command -v man >/dev/null || skip "needs man"
  local page found
  for page in $(grep -L '^\.so ' man/*.[78]); do
    found=$(MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
    [[ -z $found ]] || { echo "$page: $found"; return 1; }
  done
}

@test "the pages have no fault that mandoc can see" {
  command -v mandoc >/dev/null || skip "needs mandoc"
  local found
  # shellcheck disable=SC2046 # one word for each page
  found=$(mandoc -Tlint $(grep -L '^\.so ' man/*.[78]) | grep -v 'referenced manual not found\|outdated mandoc.db lacks' || true)
  [[ -z $found ]] || { echo "$found"; return 1; }
}

# options_of_all WORD…: the long options of `ocirun WORD…`, one a line.
options_of_all() {
  local command
  "$OCIRUN" "$@" --help | { grep -oE -- '--[a-z][a-z0-9-]*' || true; }
  [[ $* != pod ]] || for command in $(commands pod); do options_of_all pod "$command"; done
}

# foreign FILE: sets FOREIGN to the options of other programs that this file names, with the name of each program in front.
foreign() {
  FOREIGN=
  case $1 in
    cgroups/systemd/program/unit.cpp) FOREIGN='journalctl --unit' ;;
    linux/mounts/mount.cpp) FOREIGN='docker --security-opt' ;;
    linux/mounts/rootfs.cpp) FOREIGN='mount --rbind unshare --mount' ;;
    linux/namespaces/subordinate_ids.cpp | pods/images/trees/inode.cpp) FOREIGN='usermod --add-subuids --add-subgids' ;;
    pods/run/sandbox/pod_cgroup.cpp | runtime/parent/cgroup_choice.cpp) FOREIGN='systemd-run --scope' ;;
    pods/run/sandbox/forwarder.cpp)
      FOREIGN='pasta --foreground --config-net --netns --runas --pid --no-map-gw --tcp-ns --udp-ns --tcp-ports --udp-ports'
      ;;
    pods/images/registry/skopeo.cpp)
      FOREIGN='skopeo --authfile --raw --retry-times --tmpdir --remove-signatures --preserve-digests --dest-oci-accept-uncompressed-layers'
      ;;
    pods/run/units/units.cpp) FOREIGN='systemd-socket-proxyd --exit-idle-time' ;;
    pods/cli/export.cpp) FOREIGN='docker --resolve-image' ;;
    pods/export/swarm.cpp) FOREIGN='docker --compose-file --with-registry-auth' ;;
    pods/export/swarm_mounts.cpp) FOREIGN='docker --label-add' ;;
    criu/commands/restore_dry_run.cpp) FOREIGN='criu --images-dir' ;;
    man/ocirun-checkpoint.8) FOREIGN='rsync --numeric-ids' ;;
    man/ocirun-create.8) FOREIGN='mount --rbind' ;;
    man/ocirun-pod.8) FOREIGN='umoci --layout' ;;
    man/ocirun-pod-rootless.7) FOREIGN='systemd-run --scope unshare --map-root-user --map-auto' ;;
    man/ocirun-pod-run.8) FOREIGN='skopeo --authfile' ;;
    man/ocirun-pod-unit.8) FOREIGN='systemctl --now' ;;
    man/ocirun-ps.8) FOREIGN='ps --ef' ;;
    man/ocirun-restore.8) FOREIGN='criu --address --port --images-dir --work-dir' ;;
    man/ocirun-run.8) FOREIGN='systemd-run --service-type' ;;
    man/ocirun.8) FOREIGN='cmake --install docker --privileged' ;;
    man/containerd-shim-ocirun-v2.8) FOREIGN='containerd-shim --namespace --id --address --publish-binary --info ctr --rm --runtime --runtime-config-path' ;;
    man/ocirun-engines.7)
      FOREIGN='podman --runtime --rm --cgroups --systemd --export --import --pre-checkpoint --with-previous docker --privileged --name --replicas'
      FOREIGN+=' --limit-memory --limit-cpu --limit-pids --endpoint-mode --no-resolve-image --checkpoint buildah --isolation'
      FOREIGN+=' kubelet --config --container-runtime --container-runtime-endpoint kubectl --for --timeout'
      FOREIGN+=' ctr --runc-binary --runtime-config-path --rw --image --task --live srun --container --ntasks-per-node'
      ;;
    pods/README.md) FOREIGN='docker --compose-file' ;;
    docs/decisions/*) FOREIGN='skopeo --raw podman --rm' ;;
    docs/releasing.md) FOREIGN='./dev --all --arch git --sign gpg --armor --detach-sign' ;;
    README.md)
      FOREIGN='./dev --quick --landing --all --arch cmake --preset --build --install --prefix podman --runtime --name ctr --runc-binary docker'
      FOREIGN+=' umoci --image --rootless'
      ;;
  esac
}

# A sentence of `ocirun pod` may name options of pod and those before the command; what pod gives other programs as words, and all other
# sentences and pages, any option of ocirun.
# bats test_tags=exhaustive
@test "each option that a message or a page names is one of ocirun, or of another program where the table above says so" {
  has_pods || skip "this build has no pods"
  set +T # bats' DEBUG trap makes loops slow
  local FOREIGN of_pod of_ocirun command known place kind option files unknown=0
  of_pod=$(options_of_all && options_of_all pod)
  of_ocirun=$of_pod$'\n'$(for command in $(commands); do options_of_all "$command"; done)
  mapfile -t files < <(git ls-files -- '*.cpp' '*.hpp' 'man/*.[78]' README.md SECURITY.md pods/README.md 'docs/*.md' ':!tests')
  while read -r place kind option; do
    known=$of_ocirun
    [[ $place$kind != pods/*text ]] || known=$of_pod
    foreign "${place%:*}"
    [[ " $FOREIGN "$'\n'"$known"$'\n' == *[[:space:]]"$option"[[:space:]]* ]] && continue
    echo "$place names $option, which does not exist"
    unknown=1
  done < <(integration/lib/named-options "${files[@]}")
  ((unknown == 0))
}
