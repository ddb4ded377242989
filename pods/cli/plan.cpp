#include <array>
#include <vector>

#include "linux/base/paths.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/prepare/complete.hpp"
#include "pods/prepare/new_directory.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kPlanOwnOptions{
    Option{"output", 'o', "DIR", "write the bundles into the new directory DIR",
           Completes::kDirectory},
    kDataOption,
};

Result<int> plan(const Arguments& arguments, const Caller& caller) {
  const std::string& file = arguments.operands().front();
  const auto output = arguments.value("output");
  if (!output) return refuse("-o DIR is missing: the directory for the bundles");
  OCIRUN_TRY_ASSIGN(Workload workload, read_workload_to_run(arguments, file));
  OCIRUN_TRY_ASSIGN(Given given, read_given(arguments));
  given.pulling.is_ordinary = caller.is_ordinary;
  OCIRUN_TRY_ASSIGN(const std::string name, name_for(arguments, workload.pod.name, file));
  OCIRUN_TRY_ASSIGN(const HostPath out, linux::absolute_path(*output));
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  OCIRUN_TRY_ASSIGN(const Completed completed, complete(std::move(workload), std::move(given), data,
                                                        {}, Audience::kThisMachine));
  OCIRUN_TRY(admit(completed));
  OCIRUN_TRY_ASSIGN(NewDirectory made, NewDirectory::make(out));
  OCIRUN_TRY_ASSIGN(
      const std::vector<std::string> warnings,
      plan_pod(completed, data,
               {.name = name,
                .site = made.site(),
                .owner = caller.is_ordinary ? BundleOwner::kOrdinaryUser : BundleOwner::kRoot}));
  for (const std::string& warning : warnings) warn(warning);
  if (completed.pod().host_network)
    warn("hostNetwork: each bundle has a network of its own: `ocirun pod run` uses the host's");
  std::string lines;
  for (const Container* container : all_containers(completed.pod()))
    lines += fmt::format("{}/{}\n", out.string(), container->name);
  OCIRUN_TRY(print(lines));
  made.keep();
  return 0;
}

constexpr std::array kPlanOptions = bundle::cli::joined(kGivenOptions, kPlanOwnOptions);

}  // namespace

const Command kPlan{{"plan",
                     "-o DIR FILE",
                     "write the bundles of a document's pod, for any OCI runtime",
                     kPlanOptions,
                     {1, 1},
                     {kOneFile}},
                    plan,
                    Rights::kRoot};

}  // namespace ocirun::pods::cli
