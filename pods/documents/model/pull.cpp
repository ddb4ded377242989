#include "pods/documents/model/pull.hpp"

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

constexpr linux::Named<PullPolicy> kPullPolicies[] = {{"Always", PullPolicy::kAlways},
                                                      {"IfNotPresent", PullPolicy::kMissing},
                                                      {"Never", PullPolicy::kNever}};

}  // namespace

bool image_pull_policy(bundle::Value at, PullPolicy& out) {
  return word_of<kPullPolicies>("imagePullPolicy")(at, out);
}

std::string_view pull_policy_word(PullPolicy policy) {
  return linux::name_of(kPullPolicies, policy);
}

}  // namespace ocirun::pods
