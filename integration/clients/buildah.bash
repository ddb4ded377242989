#!/usr/bin/env bash
# The check list of buildah with isolation oci, as root.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container
ENGINE=buildah
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/podman_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/podman_setup.bash"

podman_setup
export BUILDAH_RUNTIME=$RUNTIME BUILDAH_ISOLATION=oci
# Limits that need no CAP_SYS_RESOURCE, which some machines do not grant.
LIMITS=(--ulimit nofile=20000:20000 --ulimit nproc=32768:32768)

make_container() {
  C=$(buildah from "${LIMITS[@]}" scratch) && buildah add -q "$C" "$(image_archive)" / && buildah config --env PATH=/bin --cmd sh "$C"
}
run() { buildah run --network none "$@"; }
check "a container from nothing" make_container
check_output "run prints" hello run "$C" -- echo hello
check_status "run returns the program's status" 7 run "$C" -- sh -c 'exit 7'
check_mentions "a program that is not found is told" "nosuch" run "$C" -- nosuch
check_output "a user" 1000 run --user user "$C" -- id -u
check_output "a working directory" /tmp run --workingdir /tmp "$C" -- pwd
check_output "an environment variable" value run --env NAME=value "$C" -- sh -c 'echo $NAME'
check_output "stdin is passed on" typed bash -c "echo typed | buildah run --network none $C -- cat"
# Mentions, not output: buildah asks for ambient capabilities that are not inheritable, and ocirun warns of that, as the
# specification wants.
check_mentions "a terminal" /dev/pts/0 run_with_terminal "buildah run --network none -t $C -- tty"
check_output "a volume" data run -v "$WORK/image/etc:/mnt:ro" "$C" -- cat /mnt/noexec
check_output "no capabilities" "CapEff:	0000000000000000" run --cap-drop all "$C" -- grep CapEff /proc/self/status
check_output "the engine's seccomp filter" "Seccomp:	2" run "$C" -- grep Seccomp: /proc/self/status
check "what was run stays" run "$C" -- sh -c 'echo kept >/kept'
check_output "and is seen by the next" kept run "$C" -- cat /kept
check "commit" buildah commit -q "$C" localhost/made
cat >"$WORK/Containerfile" <<'END'
FROM localhost/made AS first
RUN echo one >/one && test "$(id -u)" = 0
USER user
RUN test "$(id -un)" = user
FROM localhost/made
COPY --from=first /one /two
RUN --mount=type=tmpfs,target=/mnt stat -f -c %T /mnt | grep -qx tmpfs
ENV A=b
RUN test $A = b
CMD ["cat", "/two"]
END
build() { buildah build "${LIMITS[@]}" --network none -q -t localhost/built -f "$WORK/Containerfile" "$WORK/hooks.d"; }
check "build with two stages" build
build_fails() {
  printf 'FROM localhost/made\nRUN exit 9\n' >"$WORK/Broken"
  ! buildah build "${LIMITS[@]}" --network none -q -f "$WORK/Broken" "$WORK/hooks.d"
}
check "a step that fails fails the build" build_fails
built_runs() { local c && c=$(buildah from -q localhost/built) && [[ $(run "$c" -- cat /two) == one ]] && buildah rm "$c"; }
check "what was built runs" built_runs
check "rm" buildah rm "$C"
nothing_is_left() { [[ -z $(buildah containers -q) ]] && eventually no_state_left; }
check "nothing is left" nothing_is_left
end_list
