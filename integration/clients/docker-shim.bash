#!/usr/bin/env bash
# The check list of Docker, from 23 on, with the runtime's own shim, which lies beside the runtime.
ENGINE=docker-shim
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/docker_shim_entry.bash
source "$(dirname "${BASH_SOURCE[0]}")/docker_shim_entry.bash"
# shellcheck source=integration/clients/docker_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/docker_checks.bash"
end_list
