#pragma once

#include <string>
#include <vector>

#include "pods/model/scalars.hpp"

namespace ocirun::pods {

/// A value that an ApplicationConfiguration gives to a parameter of a Component.
struct ParameterValue {
  std::string name;
  Place value = nullptr;  // a string or a whole number
  Place place = nullptr;
};

/// parameterValues of an ApplicationConfiguration.
bool parameter_values(Value at, std::vector<ParameterValue>& out);

/// Reads the parameters of a Component, and writes the values into its workload, where the field
/// paths of each parameter lead to. `arena`: the document that the Component belongs to. Problems:
/// a value without a parameter; a required parameter without a value; a path that leads nowhere.
void set_parameters(Value component, const std::vector<ParameterValue>& values,
                    bundle::Document& arena);

}  // namespace ocirun::pods
