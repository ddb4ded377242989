#!/usr/bin/env bash
# The check list of containerd's CRI plugin, with the shim for runc.
ENGINE=cri
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck disable=SC2034 # used by the checks
RUNTIME_TYPE=io.containerd.runc.v2 SHIM_OPTIONS=$(shim_options)
# shellcheck source=integration/clients/cri_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/cri_checks.bash"
end_list
