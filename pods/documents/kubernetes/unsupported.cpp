#include "pods/documents/kubernetes/unsupported.hpp"

#include <array>

namespace ocirun::pods {
namespace {

constexpr UnsupportedName kWindows{"windowsOptions",
                                   "containers of another system do not run here"};

constexpr std::array kOfPod{
    UnsupportedName{"activeDeadlineSeconds", "a pod runs until it is stopped"},
    UnsupportedName{"dnsConfig", "containers have the name servers of the host"},
    UnsupportedName{"ephemeralContainers", "`ocirun pod exec` runs a program in a container"},
    UnsupportedName{"hostAliases", "/etc/hosts has the name of the pod only"},
    UnsupportedName{"hostIPC", "containers share the pod's namespace"},
    UnsupportedName{"hostnameOverride", "the host name is the name of the pod"},
    UnsupportedName{"hostPID", "containers do not see the processes of the host"},
    UnsupportedName{"resourceClaims", "containers get no devices of the host"},
    UnsupportedName{"resources", "write resources in each container"},
    UnsupportedName{"setHostnameAsFQDN", "the host name is the name of the pod"},
    UnsupportedName{"workloadRef", "one machine runs all pods"},
};

constexpr std::array kOfPodSecurity{
    UnsupportedName{"sysctls", "a pod has the settings of a new namespace"},
    UnsupportedName{"seLinuxChangePolicy", "volumes keep their labels"},
    kWindows,
};

constexpr std::string_view kNoTerminal =
    "nobody is at the terminal of a container that serves requests";
constexpr std::array kOfContainer{
    UnsupportedName{"lifecycle", "containers have no hooks; --grace is the time that a stop gives"},
    UnsupportedName{"restartPolicy", "--restart says when a container is started again"},
    UnsupportedName{"restartPolicyRules", "--restart says when a container is started again"},
    UnsupportedName{"resizePolicy", "resources are those of the start"},
    UnsupportedName{"stdin", kNoTerminal},
    UnsupportedName{"stdinOnce", kNoTerminal},
    UnsupportedName{"tty", kNoTerminal},
    UnsupportedName{"volumeDevices", "containers get no devices of the host"},
};

constexpr std::array kOfContainerSecurity{
    UnsupportedName{"privileged",
                    "containers get no devices of the host, capabilities.add gives single powers"},
    kWindows,
};

constexpr std::array kOfVariable{
    UnsupportedName{"resourceFieldRef", "write the number as value", true},
    UnsupportedName{"fileKeyRef", "write the value, or take it from a secret or a config map",
                    true},
};

constexpr std::array kOfMount{
    UnsupportedName{"subPathExpr", "write subPath, without variables"},
    UnsupportedName{"mountPropagation",
                    "mounts of the host do not appear in a container that runs"},
    UnsupportedName{"recursiveReadOnly", "readOnly holds for all that is mounted below the volume"},
};

constexpr std::array kOfVolume{
    UnsupportedName{"projected", "mount a volume for each secret and config map", true},
    UnsupportedName{"downwardAPI", "a pod has no object in a cluster whose fields could be read",
                    true},
    UnsupportedName{"ephemeral", kClaimInstead, true},
    UnsupportedName{"csi", kClaimInstead, true},
    UnsupportedName{"nfs", kClaimInstead, true},
    UnsupportedName{"iscsi", kClaimInstead, true},
    UnsupportedName{"fc", kClaimInstead, true},
    UnsupportedName{"cephfs", kClaimInstead, true},
    UnsupportedName{"rbd", kClaimInstead, true},
    UnsupportedName{"glusterfs", kClaimInstead, true},
    UnsupportedName{"image", kClaimInstead, true},
    UnsupportedName{"gitRepo", kClaimInstead, true},
    UnsupportedName{"flexVolume", kClaimInstead, true},
    UnsupportedName{"cinder", kClaimInstead, true},
    UnsupportedName{"awsElasticBlockStore", kClaimInstead, true},
    UnsupportedName{"azureDisk", kClaimInstead, true},
    UnsupportedName{"azureFile", kClaimInstead, true},
    UnsupportedName{"gcePersistentDisk", kClaimInstead, true},
    UnsupportedName{"vsphereVolume", kClaimInstead, true},
    UnsupportedName{"portworxVolume", kClaimInstead, true},
    UnsupportedName{"photonPersistentDisk", kClaimInstead, true},
    UnsupportedName{"flocker", kClaimInstead, true},
    UnsupportedName{"quobyte", kClaimInstead, true},
    UnsupportedName{"scaleIO", kClaimInstead, true},
    UnsupportedName{"storageos", kClaimInstead, true},
};

constexpr std::array kOfService{
    UnsupportedName{"externalIPs", "--publish chooses an address of the host"},
    UnsupportedName{"externalName", "a Service leads to the pod of this file"},
    UnsupportedName{"loadBalancerSourceRanges", "the ports of the host are open to all addresses"},
};

}  // namespace

std::span<const UnsupportedName> unsupported_of(PartOfPod part) {
  switch (part) {
    case PartOfPod::kPod:
      return kOfPod;
    case PartOfPod::kPodSecurity:
      return kOfPodSecurity;
    case PartOfPod::kContainer:
      return kOfContainer;
    case PartOfPod::kContainerSecurity:
      return kOfContainerSecurity;
    case PartOfPod::kVariable:
      return kOfVariable;
    case PartOfPod::kMount:
      return kOfMount;
    case PartOfPod::kVolume:
      return kOfVolume;
    case PartOfPod::kService:
      return kOfService;
  }
  return {};
}

}  // namespace ocirun::pods
