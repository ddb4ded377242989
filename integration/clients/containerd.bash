#!/usr/bin/env bash
# The check list of containerd with a private configuration, called through ctr; containerd's runc shim calls the runtime.
ENGINE=containerd
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/containerd_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/containerd_setup.bash"
# shellcheck disable=SC2034 # used by the checks
SHIM=containerd-shim-runc-v2 OPTIONS=(--snapshotter native --runc-binary "$RUNTIME" --runc-root /run/c8d-runc --runtime io.containerd.runc.v2)
# shellcheck source=integration/clients/containerd_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/containerd_checks.bash"
end_list
