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

# left_out: the commands that this build leaves out by OCIRUN_CRIU=OFF, one a line.
left_out() { "$OCIRUN" checkpoint x 2>&1 | grep -q OCIRUN_CRIU=OFF && printf '%s\n' checkpoint restore; }
# documented: the commands that ocirun(8) and the pages have, in the order of ocirun(8).
documented() { sed -n '/^\.Sh COMMANDS/,/^\.El/s/^\.It Cm \([a-z]*\).*/\1/p' man/ocirun.8 | grep -vxFf <(left_out); }

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
    [[ $command != pod || -x ${OCIRUN%/*}/ocirun-pod ]] || continue # a build without pods
    same "ocirun-$command.8" "$(options_of_page "$command")" "$(options_of_help "$command")"
  done
}

@test "there is no page of a command that does not exist, and ocirun(8) names each that does" {
  local page command
  for page in man/ocirun-*.8; do
    command=${page#man/ocirun-}
    ! grep -qx "${command%.8}" <(left_out) || continue
    commands | grep -qx "${command%.8}" || { echo "$page has no command"; return 1; }
  done
  same ocirun.8 "$(documented)" "$(commands)"
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

# options_of_all WORD…: the long options of `ocirun WORD…`, one a line.
options_of_all() { "$OCIRUN" "$@" --help | { grep -oE -- '--[a-z][a-z0-9-]*' || true; }; }

# foreign FILE: sets FOREIGN to the options of other programs that this file names, with the name of each program in front.
foreign() {
  FOREIGN=
  case $1 in
    cgroups/systemd/program/unit.cpp) FOREIGN='journalctl --unit' ;;
    linux/mounts/mount.cpp) FOREIGN='docker --security-opt' ;;
    linux/mounts/rootfs.cpp) FOREIGN='mount --rbind unshare --mount' ;;
    linux/namespaces/subordinate_ids.cpp | pods/images/inode.cpp) FOREIGN='usermod --add-subuids --add-subgids' ;;
    pods/surroundings/pod_cgroup.cpp | runtime/parent/cgroup_choice.cpp) FOREIGN='systemd-run --scope' ;;
    pods/surroundings/forwarder.cpp)
      FOREIGN='pasta --foreground --config-net --netns --runas --pid --no-map-gw --tcp-ns --udp-ns --tcp-ports --udp-ports'
      ;;
    pods/registry/skopeo.cpp)
      FOREIGN='skopeo --authfile --raw --retry-times --tmpdir --remove-signatures --preserve-digests --dest-oci-accept-uncompressed-layers'
      ;;
    pods/systemd/units.cpp) FOREIGN='systemd-socket-proxyd --exit-idle-time' ;;
    pods/cli/export.cpp) FOREIGN='docker --resolve-image' ;;
    pods/export/swarm.cpp) FOREIGN='docker --compose-file --with-registry-auth' ;;
    pods/export/swarm_mounts.cpp) FOREIGN='docker --label-add' ;;
    runtime/cli/parse.cpp) FOREIGN='docker --interactive' ;;
    criu/commands/restore_dry_run.cpp) FOREIGN='criu --images-dir' ;;
    man/ocirun-checkpoint.8) FOREIGN='rsync --numeric-ids' ;;
    man/ocirun-create.8) FOREIGN='mount --rbind' ;;
    man/ocirun-pod.8) FOREIGN='systemd-run --scope systemctl --now unshare --map-root-user --map-auto umoci --layout skopeo --authfile' ;;
    man/ocirun-ps.8) FOREIGN='ps --ef' ;;
    man/ocirun-restore.8) FOREIGN='criu --address --port --images-dir --work-dir' ;;
    man/ocirun-run.8) FOREIGN='systemd-run --service-type' ;;
    man/ocirun.8) FOREIGN='cmake --install docker --privileged' ;;
    man/ocirun-engines.7)
      FOREIGN='podman --runtime --rm --cgroups --systemd --export --import --pre-checkpoint --with-previous docker --privileged --name --replicas'
      FOREIGN+=' --limit-memory --limit-cpu --limit-pids --endpoint-mode --no-resolve-image --checkpoint buildah --isolation'
      FOREIGN+=' kubelet --config --container-runtime --container-runtime-endpoint kubectl --for --timeout'
      FOREIGN+=' ctr --runc-binary --rw --image --task --live srun --container --ntasks-per-node'
      ;;
    README.md)
      FOREIGN='./dev --quick --landing --arch cmake --preset --build --install --prefix podman --runtime --rm --authfile ctr --runc-binary docker --compose-file'
      ;;
  esac
}

# A sentence of `ocirun pod` may name options of pod and those before the command; what pod gives other programs as words, and all other
# sentences and pages, any option of ocirun.
# bats test_tags=exhaustive
@test "each option that a message or a page names is one of ocirun, or of another program where the table above says so" {
  [[ -x ${OCIRUN%/*}/ocirun-pod ]] || skip "this build has no pods"
  set +T # bats' DEBUG trap makes loops slow
  local FOREIGN of_pod of_ocirun command known place kind option files unknown=0
  of_pod=$(options_of_all && options_of_all pod)
  of_ocirun=$of_pod$'\n'$(for command in $(commands); do options_of_all "$command"; done)
  mapfile -t files < <(git ls-files -- '*.cpp' '*.hpp' 'man/*.[78]' README.md SECURITY.md ':!tests')
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
