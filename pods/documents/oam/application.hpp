#pragma once

#include <string>
#include <vector>

#include "bundle/json/value.hpp"
#include "pods/documents/model/pod.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// Reads an OAM ContainerizedWorkload, core.oam.dev/v1alpha2 (OAM-1 … OAM-38), into
/// `out` and reports every problem; an unknown name is a problem.
void read_oam(bundle::Value at, Pod& out);

/// Leaves one document with a workload in the `documents` of an OAM file. Removes the
/// ApplicationConfiguration, puts the values of its parameters into the workload of the Component
/// that it names, and refuses its traits, which need a cluster, except ManualScalerTrait. `arena`
/// is the document that owns the values. Does not change other files.
void oam_application(std::vector<bundle::Value>& documents, bundle::Document& arena, Pod& out);

/// A value that an ApplicationConfiguration gives to a parameter of a Component.
struct ParameterValue {
  std::string name;
  Place value = nullptr;  // a string or a whole number
  Place place = nullptr;
};

/// Reads parameterValues of an ApplicationConfiguration.
bool parameter_values(Value at, std::vector<ParameterValue>& out);

/// Reads the parameters of a Component, and writes their values into the workload at the field
/// paths of each parameter. `arena` is the document that owns the Component. Problems: a value
/// without a parameter; a required parameter without a value; a path that leads nowhere.
void set_parameters(Value component, const std::vector<ParameterValue>& values,
                    bundle::Document& arena);

/// A volume and its mount, which a container of OAM declares together.
struct DeclaredVolume {
  Volume volume;
  Mount mount;
  bool ephemeral = false;
  Place place = nullptr;
};

/// The resources of a container, which include its volumes.
struct OamResources {
  Resources resources;
  std::vector<DeclaredVolume> volumes;
  Place place = nullptr;
};

/// A name of OAM: 1 to 63 letters, digits, "-", "_" and "." (OAM-10).
bool oam_name(bundle::Value at, std::string& out);
/// Reads the resources of a container (OAM-30 … OAM-37), which include its volumes. For limits and
/// requests of Kubernetes, the problem says what to write instead.
bool oam_resources(bundle::Value at, OamResources& out);

}  // namespace ocirun::pods
