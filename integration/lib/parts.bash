# shellcheck shell=bash disable=SC2034,SC2154 # lists and functions of checks.bash and dev
# The parts of `./dev test`, and the lists of bats files that they run. `dev` sources this file after checks.bash, and defines the functions
# install, build, prepare_kubernetes and command_fuzz.

# System calls that are newer than Linux 5.1. An older kernel answers ENOSYS, for which ocirun has another way.
newer_calls=(openat2 clone3 mount_setattr fsopen pidfd_open close_range)

# Not hooks.bats, whose tests wait for hooks: the unit tests have the rules of hooks.
quick_files() {
  local name
  for name in cli kill lifecycle process exec list mounts lint; do echo "integration/$name.bats"; done
}

# Part accidents: tests that try many damages, losses, delays or repetitions, and take minutes.
accident_files=(integration/{concurrency,damaged,endurance,exhausted,faults,patience,pod_many,scale}.bats)
# Part images: tests that need the root file system of Debian or the image of systemd, which take minutes to make, or the tools of the
# world that make images of containers.
image_files=(integration/{debian,pod_images,pod_pull,pod_pull_access,pod_pull_faults,pod_service,pod_services,pod_systemd,systemd}.bats)
everyday_files() { printf '%s\n' integration/*.bats | grep -vxFf <(printf '%s\n' "${accident_files[@]}" "${image_files[@]}"); }

# For a virtual machine, which has cgroup v2 alone: the files, and by $v2_names the tests in them, that have to do with limits, and with
# AppArmor. Part uml runs the other files on cgroup v2.
v2_files=(integration/{lsm,unified,felt,resources,update,events,rootless,pod_machine,pod_run}.bats)
selinux_names='P-16|L-34'
v2_names='P-9 |R-[0-9]|probes:|I-[0-9]|[Cc]group|[Pp]aus|kill|limit|^update|^events'
# For part asan: exec.bats reaches most of the code; part asan-more runs the other files. (No leak check: LeakSanitizer traces the
# process, and ocirun is not dumpable.)
asan_files=(integration/exec.bats)
# For a virtual machine: all files but those that boot machines themselves and those whose results do not depend on the kernel. Two
# lists for two machines, one after the other: on a busy host all tests take longer than the time limit of one machine.
whole_files=(integration/{cli,devices,document,events,exec,felt,hooks,interpreters,kill,legacy,lifecycle,list,lsm,man,mistakes}.bats)
more_files=(integration/{identity,joined_namespaces,mounts,mount_options,namespaces,nested,netdevices,pod_machine,pod_run,process,resources,rootless{,_surroundings},seccomp,terminal,unified,update}.bats
  integration/security/*.bats)
# For part asan-more: the files that are in neither list above. Not exhausted.bats, which takes away resources that the sanitizers
# need themselves.
host_files=(integration/{completion,concurrency,damaged,jobs,machines,patience,service,strangers}.bats)
# Instead of v2_files where the CPU is emulated, because these take only minutes: the values in the files of cgroup v2 (unified), and
# the effect of the limits on processes (felt).
emulated_v2_files=(integration/{unified,felt}.bats)
# For part qemu: tests of kernel features that User-Mode Linux lacks, and of the effect of limits.
qemu_files=(integration/{unified,felt,resources,update,events,rootless,nested,namespaces,exec,pod_machine}.bats)
qemu_names='R-[0-9]|I-[0-9]|P-18|[Pp]aus|kill|limit|^update|^events|time'
# For part kernels: what depends on the kernel most.
kernel_files=(integration/{exec,felt,hooks,lifecycle,mounts,mount_options,namespaces,process,root_namespace,unified}.bats)

# For part architectures.
other_architectures=(armhf i386 ppc64el riscv64 s390x)

# The parts of `./dev test` in their order. `parts` is the default. --landing adds landing_parts, and beside them, in the second lane,
# machine_parts, which boot virtual machines. --all runs all_parts and all_building_parts. Each part can run alone. Only `images` makes
# the images of Debian and of systemd; without the images, the parts without-* skip the tests that need them.
parts=(integration advisories conformance)
landing_parts=(images accidents old-kernel engines cross asan fuzz tidy)
machine_parts=(limits-v2 selinux)
all_parts=(integration images accidents advisories advisories-shim old-kernel without-{openat2,clone3,mount_setattr,fsopen,pidfd_open,close_range} uml kernels selinux scale
  schedule plain memcheck faults qemu-selinux core-scheduling qemu schemas engines engines-systemd comparison schedulers kubernetes kubernetes-systemd conformance)
all_building_parts=(no-criu no-fast-start arm64 architectures asan fuzz asan-more tidy-all analyzer packages debian-13 debian-testing compilers)

# fetch_schemas: the schemas of Kubernetes, which are an npm package, in the folder $schemas, outside of the tree.
schemas=${OCIRUN_TEST_CACHE:-/var/cache/ocirun-test}/schemas
fetch_schemas() { mkdir -p "$schemas" && npm install --silent --no-audit --no-fund --prefix "$schemas" kubernetes-models@4; }

# part NAME
part() {
  say "$1"
  case $1 in
    quick)
      local files omitted=exhaustive
      mapfile -t files < <(quick_files)
      integration_tests "${files[@]}" ;;
    integration)
      local files
      mapfile -t files < <(everyday_files)
      integration_tests "${files[@]}" ;;
    images)
      prepare_images
      integration_tests "${image_files[@]}" integration/bundles.bats ;; # everyday_files() has it too, where umoci may be missing
    accidents) integration_tests "${accident_files[@]}" ;;
    advisories) integration_tests integration/security/*.bats ;;
    advisories-shim)
      if [[ $OCIRUN_SHIM == OFF ]]; then skip "attacks through containerd's shim: OCIRUN_SHIM=OFF"; else
        OCIRUN_TEST_THROUGH=shim integration_tests integration/security/*.bats; fi ;;
    old-kernel)
      local without=("${newer_calls[@]}")
      integration_tests integration/{lifecycle,exec,mounts,mount_options}.bats \
        integration/security/{descriptors,devices,executable,mounts,procfs}.bats ;;
    without-*)
      local without=("${1#without-}")
      integration_tests integration/*.bats
      integration_tests integration/security/*.bats ;;
    uml)
      machine_tests uml 3600 "${whole_files[@]}"
      machine_tests uml 3600 "${more_files[@]}" ;;
    limits-v2) limits_v2 ;;
    selinux) lsm=selinux machine_tests auto 900 -f "$selinux_names" integration/lsm.bats ;;
    qemu)
      machine_tests qemu 3600 -f "$qemu_names" "${qemu_files[@]}"
      machine_tests qemu 3600 integration/checkpoint{,_namespaces,_forged,_walls,_files,_memory,_mounting,_surroundings,_cgroups,_host,_dry_run,_foresight,_options,_engines,_daemons,_programs,_rounds}.bats
      cgroup=hybrid machine_tests qemu 1200 integration/checkpoint_cgroups.bats
      cgroup=v1 machine_tests qemu 1200 integration/checkpoint_{cgroups,host}.bats
      OCIRUN_TEST_MACHINE=qemu BATS_TEST_TIMEOUT=900 integration_tests integration/checkpoint_systemd.bats
      machine_tests qemu 3600 integration/checkpoint_killed.bats ;; # criu works under the kernel of this machine
    qemu-selinux) lsm=selinux machine_tests qemu 1200 -f "$selinux_names" integration/lsm.bats ;;
    core-scheduling) smt=1 machine_tests qemu 900 integration/core_scheduling.bats ;;
    scale) OCIRUN_TEST_CONTAINERS=1000 BATS_TEST_TIMEOUT=500 integration_tests integration/scale.bats ;;
    schedule)
      OCIRUN_TEST_SECONDS=60 integration_tests integration/concurrency.bats
      OCIRUN_TEST_REPETITIONS=500 integration_tests integration/endurance.bats
      OCIRUN_TEST_PODS=50 integration_tests integration/pod_many.bats ;;
    plain)
      check "dev build" build dev
      unit_tests dev ;;
    memcheck)
      check "dev build" build dev
      install "${memcheck_packages[@]}"
      OCIRUN_TEST_MEMCHECK=1 BATS_TEST_TIMEOUT=600 integration_tests integration/memcheck.bats ;;
    faults)
      check "a fault at every system call" integration/lib/sandbox integration/faults/sweep --bundle plain,rich,network,sockets,bare
      [[ $OCIRUN_PODS == OFF ]] || check "a fault at each seventh system call of pods" integration/lib/sandbox integration/faults/sweep --bundle pod --stride 7
      [[ $OCIRUN_SHIM == OFF ]] || check "containerd's shim or its client killed at every system call" integration/lib/sandbox integration/faults/sweep --bundle shim --fault KILL,KILLCLIENT ;;
    schemas)
      command -v npm >/dev/null || install npm
      fetch_schemas || { skip "the schemas of Kubernetes: npm does not get them" && return; }
      OCIRUN_TEST_SCHEMAS=$schemas integration_tests integration/pod_export.bats ;;
    engines) engines ;;
    engines-systemd)
      local suite
      choose_machine || { check "a virtual machine" false && return; }
      for suite in bookworm trixie testing; do engines --suite "$suite"; done ;;
    comparison) engines --compare ;;
    schedulers)
      install "${scheduler_packages[@]}"
      engines --compare swarm slurm ;;
    kubernetes)
      check "programs of Kubernetes" prepare_kubernetes
      engines kubernetes ;;
    kubernetes-systemd)
      choose_machine || { check "a virtual machine" false && return; }
      check "programs of Kubernetes" prepare_kubernetes
      engines --suite bookworm kubernetes ;;
    conformance) conformance ;;
    asan)
      check "asan build" build asan
      under_asan "${asan_files[@]}" ;;
    asan-more)
      check "asan build" build asan
      under_asan "${whole_files[@]}"
      under_asan "${more_files[@]}"
      under_asan "${host_files[@]}" ;;
    packages)
      install "${package_packages[@]}" "${vm_packages[@]}"
      check "packages" ./dev package
      check "packages of a newer version" newer_packages
      check "packages of another folder, compiled anew: the same sums" packages_of_another_folder
      check "a root file system" integration/lib/package-root
      integration_tests integration/packages.bats ;;
    debian-13) other_debian trixie ;;
    debian-testing) other_debian testing ;;
    compilers) compilers ;;
    no-criu)
      local OCIRUN_CRIU=OFF
      check "a build without checkpoint and restore" build_without OCIRUN_CRIU no-criu
      unit_tests no-criu
      OCIRUN=$PWD/build/no-criu/ocirun integration_tests integration/{cli,completion,exec,lifecycle,man}.bats ;;
    no-fast-start)
      check "a build with the start of libc, and without kept images" build_without OCIRUN_FAST_START no-fast-start
      unit_tests no-fast-start
      OCIRUN=$PWD/build/no-fast-start/ocirun integration_tests integration/{lifecycle,exec,hardened,outer_filter,overwritten}.bats integration/security/*.bats ;;
    kernels) kernels ;;
    cross) # without pods, because each landing waits for it
      local OCIRUN_PODS=OFF
      check "build for arm64" build release arm64 ;;
    arm64)
      check "build for arm64" build release arm64
      check "packages for arm64" foreign_packages arm64
      lives arm64
      foreign_unit_tests arm64 ;;
    architectures)
      local OCIRUN_PODS=OFF arch
      for arch in "${other_architectures[@]}"; do check "build for $arch" build release "$arch"; done
      lives "${other_architectures[@]}" ;;
    fuzz) check "fuzz targets, a few seconds each" command_fuzz 45 ;;
    tidy) check "clang-tidy on what changed" tidy changed_sources ;;
    tidy-all) check "clang-tidy" tidy product_sources ;;
    analyzer) check "clang-tidy with the analyzer" tidy product_sources 'clang-analyzer-*' ;;
    *) usage ;;
  esac
}
