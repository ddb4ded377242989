#pragma once

#include <string>

#include "pods/images/manifest.hpp"
#include "tests/pods/documents/full_kubernetes.hpp"

namespace ocirun::pods {

// A document of each kind with every attribute that the kind has. No problem, no warning but those
// of the rows without effect.

inline std::string full_oam() {
  return R"({
  "apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload",
  "metadata": {"name": "shop", "labels": {"tier": "front"}, "annotations": {"owner": "me"}},
  "spec": {
    "osType": "linux", "arch": ")" +
         Platform::host().architecture + R"(",
    "containers": [{
      "name": "Web.1_a-b", "image": "example/foobar:1",
      "resources": {
        "cpu": {"required": 0.5}, "memory": {"required": "64M"}, "gpu": {"required": 0},
        "volumes": [{"name": "data", "mountPath": "/data", "accessMode": "RO", "sharingPolicy": "Shared",
                     "disk": {"required": "2G", "ephemeral": true}}],
        "extended": [{"name": "ext.example.com/v1.MotionSensor", "required": "1"}]
      },
      "cmd": ["/bin/httpd"], "args": ["-f"],
      "env": [{"name": "A_b-1", "value": "x"}, {"name": "EMPTY"}],
      "config": [{"path": "/etc/a", "value": "v", "fromParam": "p"}, {"path": "etc/b", "value": ""}],
      "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"},
                {"name": "dns", "containerPort": 53, "protocol": "UDP"}],
      "livenessProbe": {"exec": {"command": ["/bin/true", "x"]}, "initialDelaySeconds": 1, "periodSeconds": 2,
                        "timeoutSeconds": 3, "successThreshold": 4, "failureThreshold": 5},
      "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080,
                                     "httpHeaders": [{"name": "X-A", "value": "b"}]}},
      "imagePullSecret": "key"
    }, {
      "name": "side", "image": "side", "resources": {"cpu": {"required": 1}, "memory": {"required": "1K"}},
      "livenessProbe": {"tcpSocket": {"port": 1}}
    }]
  }
})";
}

inline std::string full_appc() {
  return R"({
  "acVersion": "0.8.11", "acKind": "PodManifest",
  "apps": [{
    "name": "worker",
    "image": {"name": "example.com/worker", "id": "sha512-)" +
         std::string(128, 'a') + R"(", "labels": [{"name": "version", "value": "1.0.0"}]},
    "app": {
      "exec": ["/bin/worker", "-v"], "user": "0", "group": "wheel", "supplementaryGIDs": [7],
      "workingDirectory": "/tmp", "environment": [{"name": "A", "value": "b"}],
      "mountPoints": [{"name": "work", "path": "/work", "readOnly": true}],
      "ports": [{"name": "ftp", "port": 21, "protocol": "tcp", "count": 1, "socketActivated": false}],
      "eventHandlers": [],
      "isolators": [
        {"name": "resource/memory", "value": {"request": "512M", "limit": "1G"}},
        {"name": "resource/cpu", "value": {"limit": "500m"}},
        {"name": "os/linux/capabilities-retain-set", "value": {"set": ["CAP_CHOWN"]}},
        {"name": "os/linux/seccomp-remove-set", "value": {"set": ["ptrace"], "errno": "EPERM"}},
        {"name": "os/linux/no-new-privileges", "value": true},
        {"name": "os/linux/oom-score-adj", "value": -5},
        {"name": "os/linux/cpu-shares", "value": 512},
        {"name": "os/linux/apparmor-profile", "value": {"profile": "p"}},
        {"name": "os/linux/selinux-context", "value": {"user": "u", "role": "r", "type": "t", "level": "s0"}}
      ],
      "userAnnotations": {"any thing": "x"}, "userLabels": {"l": "y"}
    },
    "readOnlyRootFS": true,
    "mounts": [{"volume": "data", "path": "/work"},
               {"volume": "own", "path": "/own", "appVolume": {"name": "own", "kind": "empty", "mode": "1777"}}],
    "annotations": [{"name": "foo", "value": "baz"}]
  }],
  "volumes": [{"name": "data", "kind": "host", "source": "/srv/data", "readOnly": true, "recursive": false},
              {"name": "tmp", "kind": "empty", "mode": "0700", "uid": 1, "gid": 2}],
  "isolators": [{"name": "resource/memory", "value": {"limit": "4G"}}, {"name": "resource/cpu", "value": {"limit": 2}}],
  "annotations": [{"name": "owner", "value": "me"}],
  "ports": [{"name": "ftp", "hostPort": 2121, "hostIP": "203.0.113.23",
             "podPort": {"name": "ftp", "port": 21, "protocol": "tcp"}}],
  "userAnnotations": {"any thing": "x"}, "userLabels": {"l": "y"}
})";
}

inline std::string full_radius() {
  return R"({
  "id": "/planes/radius/local/x", "name": "shop", "type": "Radius.Compute/containers@2025-08-01-preview",
  "location": "global", "apiVersion": "2025-08-01-preview", "tags": {"owner": "me"},
  "properties": {
    "environment": "env", "application": "app", "replicas": 1,
    "containers": {
      "web": {
        "image": "example/web:1", "command": ["/bin/httpd"], "args": ["-f"], "workingDir": "/srv",
        "env": {"A": {"value": "x"}, "B": {"valueFrom": {"secretKeyRef": {"secretId": "db", "key": "password"}}}},
        "ports": {"http": {"containerPort": 8080, "protocol": "TCP", "port": 80}},
        "volumeMounts": {"m": {"mountPath": "/data", "volumeName": "data"}},
        "resources": {"requests": {"cpu": 0.1, "memoryInMib": 64}, "limits": {"cpu": 1, "memoryInMiB": 128}},
        "livenessProbe": {"httpGet": {"path": "/", "port": "http", "scheme": "HTTPS"}},
        "readinessProbe": {"tcpSocket": {"port": 8080}}
      },
      "side": {"image": "side"}
    },
    "initContainers": {"second": {"image": "a"}, "first": {"image": "b"}},
    "volumes": {"data": {"persistentVolumeId": "/volumes/data"}, "keys": {"secretId": "/secrets/db"},
                "tmp": {"emptyDir": {}}},
    "autoScaling": {"maxReplicas": 3, "metric": {"kind": "custom", "customMetric": "m", "target": {"averageValue": 5}}},
    "extensions": {"manualScaling": {"replicas": 1}},
    "connections": {"cache": {"source": "/redis/cache", "disableDefaultEnvVars": false}}
  }
})";
}

/// Applications.Core/containers, the first edition of the resource type.
inline std::string full_radius_core() {
  return R"({
  "id": "/planes/radius/local/x", "name": "shop", "type": "Applications.Core/containers@2023-10-01-preview",
  "location": "global", "apiVersion": "2023-10-01-preview", "systemData": {}, "tags": {"owner": "me"},
  "properties": {
    "environment": "env", "application": "app", "restartPolicy": "Always",
    "container": {
      "image": "example/web:1", "imagePullPolicy": "IfNotPresent",
      "command": ["/bin/httpd"], "args": ["-f"], "workingDir": "/srv",
      "env": {"A": {"value": "x"}, "B": {"valueFrom": {"secretRef": {"source": "db", "key": "password"}}}},
      "ports": {"http": {"containerPort": 8080, "protocol": "TCP", "scheme": "http", "port": 80}},
      "livenessProbe": {"kind": "httpGet", "containerPort": 8080, "path": "/live", "headers": {"X-Odd": "1"},
                        "initialDelaySeconds": 2, "periodSeconds": 3, "timeoutSeconds": 4, "failureThreshold": 5},
      "readinessProbe": {"kind": "exec", "command": "test -e /ready"},
      "volumes": {"tmp": {"kind": "ephemeral", "mountPath": "/cache", "managedStore": "memory"},
                  "data": {"kind": "persistent", "mountPath": "/data", "source": "/volumes/data", "permission": "write"}}
    },
    "connections": {"cache": {"source": "/redis/cache", "disableDefaultEnvVars": false, "kind": "x"},
                    "back": {"source": "http://backend:3000/api"}},
    "extensions": [{"kind": "manualScaling", "replicas": 1},
                   {"kind": "kubernetesMetadata", "labels": {"team": "a"}, "annotations": {"note": "b"}}],
    "resourceProvisioning": "internal", "resources": [{"id": "/x"}],
    "runtimes": {"aci": {"gatewayID": "/x"}}, "provisioningState": "Succeeded", "status": {}
  }
})";
}

inline std::string full_knative() {
  return R"({
  "apiVersion": "serving.knative.dev/v1", "kind": "Service",
  "metadata": {"name": "hello", "namespace": "default", "labels": {"l": "1"}, "annotations": {"a": "2"}},
  "spec": {
    "template": {
      "metadata": {"name": "hello-v1", "annotations": {"autoscaling.knative.dev/min-scale": "1"}},
      "spec": {
        "containers": [{
          "name": "hello", "image": "example/hello", "command": ["/srv"], "args": ["x"], "workingDir": "/tmp",
          "env": [{"name": "A", "value": "b"},
                  {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}},
                  {"name": "D", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}],
          "envFrom": [{"prefix": "P_", "secretRef": {"name": "s", "optional": true}}, {"configMapRef": {"name": "m"}}],
          "ports": [{"name": "http1", "containerPort": 9000, "protocol": "TCP"}],
          "livenessProbe": {"httpGet": {"path": "/live"}},
          "readinessProbe": {"tcpSocket": {"port": 9000}, "periodSeconds": 3},
          "startupProbe": {"httpGet": {"path": "/", "port": "http1"}},
          "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": 1, "memory": "1G", "vendor.com/gpu": "2"}},
          "volumeMounts": [{"name": "keys", "mountPath": "/keys", "readOnly": true, "subPath": "a/b"}],
          "securityContext": {"runAsUser": 1000, "runAsGroup": 1001, "runAsNonRoot": true,
                              "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
                              "seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"},
                              "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
          "imagePullPolicy": "Always", "terminationMessagePath": "/x", "terminationMessagePolicy": "File"
        }],
        "initContainers": [{"name": "prepare", "image": "example/prepare"}],
        "volumes": [{"name": "keys", "secret": {"secretName": "s", "defaultMode": 256, "optional": true,
                                                 "items": [{"key": "k", "path": "d/f", "mode": 288}]}},
                    {"name": "conf", "configMap": {"name": "m"}},
                    {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
                    {"name": "data", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}}],
        "imagePullSecrets": [{"name": "pull"}], "containerConcurrency": 0, "timeoutSeconds": 300,
        "responseStartTimeoutSeconds": 10, "idleTimeoutSeconds": 10, "serviceAccountName": "default",
        "automountServiceAccountToken": false, "enableServiceLinks": false
      }
    },
    "traffic": [{"percent": 100, "latestRevision": true}]
  }
})";
}

/// The documents of the kinds ConfigMap and Secret, beside a workload.
inline std::string full_list() {
  return R"({"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "ConfigMap",
   "metadata": {"name": "m", "namespace": "default", "labels": {"l": "1"}, "annotations": {"a": "2"}},
   "data": {"k": "v", "other.txt": "a\u0000b"}, "binaryData": {"b": "AAE="}, "immutable": true},
  {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "type": "kubernetes.io/ssh-auth",
   "data": {"k": "aGVs\nbG8=", "ssh-privatekey": ""}, "stringData": {"k": "plain", "more": "m"}, "immutable": false},
)" + full_knative() +
         "]}";
}

}  // namespace ocirun::pods
