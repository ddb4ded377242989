#include "runtime/cli/completion.hpp"

#include "bundle/cli/completion.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime::cli {

constexpr std::string_view kBashCompletion =
    R"bash(# bash completion for ocirun, made by `ocirun completion bash`

_ocirun() {
  local word line=$COMP_LINE typed=${COMP_WORDS[COMP_CWORD]} begun candidate i
  local -a words=()
  COMPREPLY=()
  # bash divides words at = and : too; here a word ends at a blank.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && -n $word && $line != [[:blank:]]* ]]; then
      words[${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    line=${line#"${line%%[![:blank:]]*}"}
    line=${line#"$word"}
  done
  # bash inserts a candidate behind the last = or :.
  if [[ $typed == [=:] ]]; then typed=; fi
  begun=${words[${#words[@]}-1]%"$typed"}
  while IFS=$'\t' read -r candidate _; do
    case $candidate in
      :files) compopt -o default ;;
      :directories) compopt -o dirnames ;;
      *)
        if [[ $candidate == *: ]]; then compopt -o nospace; fi
        COMPREPLY+=("${candidate#"$begun"}")
        ;;
    esac
  done < <(ocirun __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _ocirun ocirun
)bash";

constexpr std::string_view kZshCompletion =
    R"zsh(#compdef ocirun
# zsh completion for ocirun, made by `ocirun completion zsh`

_ocirun() {
  local line word own result=1
  local -a found open
  for line in ${(f)"$(ocirun __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"}; do
    word=${line%%$'\t'*}
    case $line in
      :*) own=$line ;;
      *$'\t'*) found+=("${word//:/\\:}:${line#*$'\t'}") ;;
      *:) open+=("${word//:/\\:}") ;;
      *) found+=("${word//:/\\:}") ;;
    esac
  done
  (( ! $#found )) || _describe candidate found && result=0
  (( ! $#open )) || _describe candidate open -S '' && result=0
  if [[ -n $own && $PREFIX == -*=* ]]; then compset -P 1 '*='; fi
  case $own in
    :files) _files && result=0 ;;
    :directories) _directories && result=0 ;;
  esac
  return result
}

# An autoloaded function is called the first time that the file is read; `source` is not.
if [[ $funcstack[1] == _ocirun ]]; then _ocirun "$@"; else compdef _ocirun ocirun; fi
)zsh";

constexpr std::string_view kFishCompletion =
    R"fish(# fish completion for ocirun, made by `ocirun completion fish`

function __ocirun_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option (string match -r '^-[^=]*=' -- "$word")
    set -l value (string replace -r '^-[^=]*=' '' -- "$word")
    for candidate in (ocirun __complete $words[2..-1] "$word" 2>/dev/null)
        switch $candidate
            case :files
                for path in (__fish_complete_path "$value")
                    printf '%s%s\n' "$option" $path
                end
            case :directories
                for path in (__fish_complete_directories "$value")
                    printf '%s%s\n' "$option" $path
                end
            case '*'
                printf '%s\n' $candidate
        end
    end
end

complete -c ocirun -f -a '(__ocirun_complete)'
)fish";

namespace {

std::vector<bundle::cli::Candidate> containers(const bundle::cli::Question& question) {
  const auto root = question.before.value("root");
  const auto store =
      Store::open(root ? HostPath(*root) : default_state_root(), MissingRoot::kIsEmpty);
  const auto ids = store ? store->ids() : std::unexpected(store.error());
  const auto states = ids ? listed_states(*store, *ids) : std::unexpected(ids.error());
  std::vector<bundle::cli::Candidate> found;
  if (!states) return found;
  for (const bundle::StateDocument& state : *states)
    if (question.wanted == nullptr || question.wanted(state.status))
      found.push_back({state.id, std::string(status_name(state.status))});
  return found;
}

}  // namespace

std::string complete_line(std::span<const std::string> words) {
  bundle::cli::Reader before(program(), nullptr);
  const std::size_t index = bundle::cli::read_before(before, words);
  if (index + 1 < words.size() && words[index] == "pod") {
    std::vector<std::string> of_pod(words.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                                    words.end());
    of_pod.emplace(of_pod.begin(), bundle::cli::kCompletionCommand);
    ignore(become_pod_program(words.first(index), of_pod));
    return {};
  }
  return bundle::cli::completion_text(program(), containers, words);
}

}  // namespace ocirun::runtime::cli
