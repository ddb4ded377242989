#!/usr/bin/env bash
# The check list of Docker, from 23 on, with the runtime's own shim, which lies beside the runtime.
ENGINE=docker-shim
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
if [[ $(dockerd --version) =~ version\ ([0-9]+) && ${BASH_REMATCH[1]} -lt 23 ]]; then
  skip "all" "Docker ${BASH_REMATCH[1]} takes no other shim"
  end_list && exit
fi
shim_options >"$WORK/shim.toml"
# shellcheck disable=SC2034 # used by the checks
RUNTIME_ENTRY="{\"runtimeType\": \"${RUNTIME%/*}/containerd-shim-ocirun-v2\", \"options\": {\"ConfigPath\": \"$WORK/shim.toml\"}}"
# shellcheck source=integration/clients/docker_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/docker_checks.bash"
end_list
