#!/usr/bin/env bash
# The check list of Docker Swarm, from Docker 23 on, with the runtime's own shim, which lies beside the runtime.
ENGINE=swarm-shim
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/docker_shim_entry.bash
source "$(dirname "${BASH_SOURCE[0]}")/docker_shim_entry.bash"
# shellcheck source=integration/clients/swarm_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/swarm_checks.bash"
end_list
