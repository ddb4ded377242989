#pragma once

#include <array>

#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {

// The options and the operands that several commands have.

inline constexpr Option kDataOption{"data", 0, "DIR",
                                    "keep images and pods below DIR (default /var/lib/ocirun)",
                                    Completes::kDirectory};
inline constexpr Option kIgnoreOption{
    "ignore",
    0,
    "NAME[,NAME]",
    "warn of what the document has and is not supported, by its NAME",
    Completes::kNothing,
    Times::kMany};
inline constexpr Option kPullSecretOption{
    "pull-secret",
    0,
    "NAME=AUTHFILE",
    "the file with the credentials of the pull secret NAME, as `skopeo login` writes it",
    Completes::kNothing,
    Times::kMany};
inline constexpr Option kPlainHttpOption{
    "plain-http",        0,
    "HOST[:PORT]",       "speak with this registry without TLS, or without verifying it",
    Completes::kNothing, Times::kMany};
inline constexpr Option kPullTimeoutOption{
    "pull-timeout", 0, "SECONDS", "give a pull up when nothing arrives for so long (default 120)"};
inline constexpr Option kContainerOption{"container", 'c', "CONTAINER",
                                         "in which container (default: the only one)",
                                         Completes::kPodContainer};
inline constexpr Option kFormatOption{"format", 0, "json|text", "(default text)",
                                      Completes::kWords};
inline constexpr Option kGraceOption{
    "grace", 't', "SECONDS", "between the signal to stop and SIGKILL (default: that of `run`)"};

inline constexpr Operand kOnePod{Completes::kPod};
inline constexpr Operand kPods{.completes = Completes::kPod, .times = Times::kMany};
inline constexpr Operand kOneFile{Completes::kFile};
inline constexpr Operand kFiles{.completes = Completes::kFile, .times = Times::kMany};

/// The options that complete a document.
inline constexpr std::array kGivenOptions{
    Option{"name", 0, "POD", "the pod's name (default: the document's)"},
    Option{"images", 0, "DIR",
           "an OCI image layout (directory or tar) in which images are looked for",
           Completes::kFile},
    Option{"image", 0, "NAME=SOURCE",
           "take the image NAME from SOURCE: an OCI layout or docker archive, PATH[:REFERENCE], or "
           "docker://REFERENCE",
           Completes::kNothing, Times::kMany},
    Option{"pull", 0, "always|missing|never",
           "fetch images from registries (default missing: what the store lacks)",
           Completes::kWords},
    kPullSecretOption,
    kPlainHttpOption,
    kPullTimeoutOption,
    Option{"volume", 0, "NAME[=HOSTPATH][:ro]",
           "the directory or file for the volume NAME; NAME alone: a directory that ocirun keeps",
           Completes::kVolume, Times::kMany},
    Option{"secret", 0, "ID=DIR", "the directory with a file for each key of the secret ID",
           Completes::kNothing, Times::kMany},
    Option{"param", 0, "NAME=VALUE", "the value of the parameter NAME", Completes::kNothing,
           Times::kMany},
    Option{"env", 'e', "NAME[=VALUE]", "a variable of all containers; NAME alone: as it is here",
           Completes::kNothing, Times::kMany},
    Option{"env-file", 0, "FILE", "variables of all containers, a line NAME[=VALUE] for each",
           Completes::kFile, Times::kMany},
    Option{"label", 0, "NAME=VALUE", "an annotation of all containers", Completes::kNothing,
           Times::kMany},
    Option{"extended", 0, "NAME=VALUE", "the machine has the extended resource NAME",
           Completes::kNothing, Times::kMany},
    Option{"device", 0, "DEVICE",
           "give all containers, or one, a CDI device: [CONTAINER:]VENDOR/CLASS=NAME",
           Completes::kNothing, Times::kMany},
    Option{"cdi", 0, "DIR",
           "look for CDI specifications in DIR, a later DIR first (default /etc/cdi and "
           "/var/run/cdi)",
           Completes::kDirectory, Times::kMany},
    Option{"enforce-required", 0, {}, "make the required CPUs and memory limits as well"},
    Option{"user", 0, "USER[:GROUP]", "run all programs as USER"},
    Option{"forbid-root", 0, {}, "refuse to run a program as root"},
    Option{"read-only", 0, {}, "make all root filesystems read-only"},
    Option{"seccomp", 0, "default|unconfined|FILE",
           "the filter for the system calls of containers whose document has none",
           Completes::kWords},
    Option{"seccomp-profiles", 0, "DIR",
           "where seccompProfile of the type Localhost has its files (default "
           "/var/lib/kubelet/seccomp)",
           Completes::kDirectory},
    kIgnoreOption,
    Option{"port", 0, "NUMBER",
           "the port of a Knative container (default: the document's, or 8080)"},
    Option{"restart", 0, "always|on-failure|never", "(default: the document's rule)",
           Completes::kWords},
};

inline constexpr std::array kRunOptions = bundle::cli::joined(
    kGivenOptions,
    std::array{
        Option{"profile", 0, "knative",
               "run a bundle under the Knative runtime contract, instead of a document",
               Completes::kWords},
        Option{
            "detach", 'd', {}, "return when all containers have been started; a supervisor stays"},
        Option{"wait-ready", 0, "[=SECONDS]",
               "count as started only when all containers are ready (default 300 s)"},
        Option{"no-prefix", 0, {}, "print the lines of the containers without \"CONTAINER | \""},
        Option{"replace", 0, "[=always]",
               "replace a pod of this name, unless it runs and would be made of the same",
               Completes::kWords},
        Option{
            "keep", 0, {}, "keep the pod's record and logs when the pod has ended or cannot start"},
        Option{"net", 0, "pod|unfiltered|host|none|PATH",
               "the network: of the pod, of the host, none, or the path of a network namespace",
               Completes::kWords},
        Option{"network", 0, "NAME", "connect the pod with all pods of the same NAME",
               Completes::kNetwork},
        Option{"publish", 'p', "PORT=[IP:]HOSTPORT",
               "the port of the host that leads to PORT, a port's name or number in the pod",
               Completes::kNothing, Times::kMany},
        Option{"publish-all",
               'P',
               {},
               "open each port of the document at the same number of the host"},
        Option{"metadata",
               0,
               {},
               "serve an App Container pod's manifest to its apps (AC_METADATA_URL)"},
        Option{"grace", 0, "SECONDS", "between the signal to stop and SIGKILL (default 30)"},
        Option{"log-dir", 0, "DIR", "write the logs of the containers to DIR",
               Completes::kDirectory},
        Option{"runtime", 0, "PATH", "another OCI runtime than this one", Completes::kFile},
        Option{"trace", 0, "FILE",
               "write a timeline of the pod's start to FILE, for `ocirun trace`", Completes::kFile},
        kDataOption,
    });

}  // namespace ocirun::pods::cli
