# One system call of a command fails, or its process is killed there: nothing may leak. faults/sweep has the commands and the
# checks. Tries every Nth of some hundred thousand points; OCIRUN_FAULTS_STRIDE is N.
load lib/common
ON=()

sweep() {
  [[ $(uname -m) == x86_64 ]] || skip "the injector knows x86-64 only"
  "${ON[@]}" "$REPO/integration/faults/sweep" --stride "${OCIRUN_FAULTS_STRIDE:-$1}" "${@:2}" </dev/null 3>&- 4>&-
}

@test "create and run that are killed, or refused a call, leave nothing" {
  sweep 449 --command create,run,detached
}

@test "create --pin-namespaces that is killed, or refused a call, leaves nothing" {
  ON=(taskset -c "$(fitting_processor)")
  sweep 449 --command create-pinned
}

@test "start that is killed or refused a call can be given again, and init's end then is an error" {
  sweep 61 --command start,started
}

@test "exec that is killed or refused a call leaves the container as it was" {
  sweep 197 --command exec,exec-detached
}

@test "kill, pause, resume and update that are killed or refused a call can be given again" {
  sweep 151 --command kill,kill-all,pause,resume,update,update-devices
}

@test "mounts add and remove that are killed or refused a call leave no mount that the list does not have" {
  sweep 47 --command mounts-add,mounts-remove
}

@test "delete that is killed or refused a call leaves what delete --force removes" {
  sweep 97 --command delete,force
}

@test "pod run, stop and delete that are killed or refused a call leave nothing that delete does not find" {
  needs_pods
  sweep 499 --command pod-run,pod-detached,pod-stop,pod-delete
}

@test "pod start that is killed or refused a call while it adopts a pod leaves the programs alone" {
  needs_pods
  sweep 499 --command pod-adopt
}

@test "pod pull and export that are killed or refused a call leave the store as before, or whole, and no part of an export" {
  needs_pods
  command -v skopeo >/dev/null || skip "skopeo is not installed"
  sweep 499 --command pod-pull,pod-export
}

@test "pod run --network and --replace that are killed or refused a call leave nothing, and never neither the old nor the new pod" {
  needs_pods
  sweep 997 --command pod-network,pod-replace
}
