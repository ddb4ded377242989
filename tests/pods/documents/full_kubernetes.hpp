#pragma once

#include <string>

namespace ocirun::pods {

/// As those of full.hpp, for a Deployment of Kubernetes.
inline std::string full_kubernetes() {
  return R"({
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "shop", "namespace": "prod", "labels": {"app": "shop"}, "annotations": {"a": "2"}},
  "spec": {
    "replicas": 1, "minReadySeconds": 1, "revisionHistoryLimit": 2, "progressDeadlineSeconds": 3,
    "strategy": {"type": "RollingUpdate"}, "selector": {"matchLabels": {"app": "shop"}},
    "template": {
      "metadata": {"labels": {"app": "shop", "tier": "front"}, "annotations": {"b": "3"}},
      "spec": {
        "containers": [{
          "name": "web", "image": "example/web:1", "command": ["/srv"], "args": ["$(A) x"], "workingDir": "/tmp",
          "env": [{"name": "A", "value": "b"},
                  {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}},
                  {"name": "D", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
                  {"name": "E", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                  {"name": "F", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['tier']"}}}],
          "envFrom": [{"prefix": "P_", "secretRef": {"name": "s", "optional": true}}, {"configMapRef": {"name": "m"}}],
          "ports": [{"name": "http", "containerPort": 9000, "protocol": "TCP", "hostPort": 80, "hostIP": "127.0.0.1"}],
          "livenessProbe": {"httpGet": {"path": "/live", "port": "http", "scheme": "HTTPS",
                                        "httpHeaders": [{"name": "X-A", "value": "b"}]},
                            "initialDelaySeconds": 1, "periodSeconds": 2, "timeoutSeconds": 3, "successThreshold": 1,
                            "failureThreshold": 5, "terminationGracePeriodSeconds": 7},
          "readinessProbe": {"tcpSocket": {"port": 9000}, "successThreshold": 4},
          "startupProbe": {"exec": {"command": ["/bin/true"]}},
          "resources": {"requests": {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "1Gi"},
                        "limits": {"cpu": 1, "memory": "1G", "vendor.com/gpu": 2}},
          "volumeMounts": [{"name": "keys", "mountPath": "/keys", "readOnly": true, "subPath": "a/b"},
                           {"name": "srv", "mountPath": "/srv/data"}],
          "securityContext": {"runAsUser": 1000, "runAsGroup": 1001, "runAsNonRoot": true,
                              "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
                              "seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"},
                              "seLinuxOptions": {"user": "u", "role": "r", "type": "t", "level": "s0"},
                              "appArmorProfile": {"type": "Localhost", "localhostProfile": "p"},
                              "procMount": "Default",
                              "capabilities": {"drop": ["CHOWN"], "add": ["NET_ADMIN"]}},
          "imagePullPolicy": "Always", "terminationMessagePath": "/x", "terminationMessagePolicy": "File"
        }, {"name": "side", "image": "side"}],
        "initContainers": [{"name": "prepare", "image": "example/prepare"}],
        "volumes": [{"name": "keys", "secret": {"secretName": "s", "defaultMode": 256, "optional": true,
                                                 "items": [{"key": "k", "path": "d/f", "mode": 288}]}},
                    {"name": "conf", "configMap": {"name": "m"}},
                    {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
                    {"name": "data", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}},
                    {"name": "srv", "hostPath": {"path": "/srv/data", "type": "Directory"}}],
        "imagePullSecrets": [{"name": "pull"}], "restartPolicy": "Always", "terminationGracePeriodSeconds": 9,
        "hostname": "shop", "hostNetwork": false, "shareProcessNamespace": true, "os": {"name": "linux"},
        "securityContext": {"runAsUser": 1, "runAsGroup": 2, "runAsNonRoot": false, "supplementalGroups": [3],
                            "fsGroup": 4, "fsGroupChangePolicy": "Always", "supplementalGroupsPolicy": "Merge",
                            "seccompProfile": {"type": "RuntimeDefault"}},
        "nodeSelector": {"disk": "ssd"}, "affinity": {"nodeAffinity": {}}, "tolerations": [{"key": "k"}],
        "serviceAccountName": "robot", "automountServiceAccountToken": true, "enableServiceLinks": true,
        "priorityClassName": "high", "runtimeClassName": "gvisor", "schedulerName": "mine", "nodeName": "n1",
        "dnsPolicy": "ClusterFirst", "hostUsers": true, "subdomain": "d"
      }
    }
  }
})";
}

}  // namespace ocirun::pods
