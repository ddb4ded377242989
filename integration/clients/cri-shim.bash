#!/usr/bin/env bash
# The check list of containerd's CRI plugin, with the runtime's own shim, which lies beside the runtime.
ENGINE=cri-shim
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
shim_options >"$WORK/shim.toml"
# shellcheck disable=SC2034 # used by the checks
RUNTIME_TYPE=${RUNTIME%/*}/containerd-shim-ocirun-v2 SHIM_OPTIONS="ConfigPath = \"$WORK/shim.toml\""
# shellcheck source=integration/clients/cri_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/cri_checks.bash"
end_list
