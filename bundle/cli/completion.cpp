#include "bundle/cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "linux/base/letters.hpp"
#include "linux/base/name_table.hpp"
#include "linux/process/capabilities.hpp"

namespace ocirun::bundle::cli {
namespace {

constexpr Option kHelpOption{"help", 'h', {}, "print the options of the command"};

/// The candidates for one word.
class Offer {
 public:
  /// Only words that begin as `typed` are offered, each behind `prefix`, which is typed already.
  Offer(std::string_view prefix, std::string_view typed) : prefix_(prefix), typed_(typed) {}

  void add(std::string_view word, std::string_view help = {}) {
    if (!word.starts_with(typed_)) return;
    text_ += fmt::format("{}{}{}{}\n", prefix_, word, help.empty() ? "" : "\t", help);
  }
  void add_shells_own(std::string_view what) { text_ += fmt::format(":{}\n", what); }
  std::string_view typed() const { return typed_; }
  std::string take() { return std::move(text_); }

 private:
  std::string_view prefix_, typed_;
  std::string text_;
};

/// Calls `word` with each piece of "table|json", "[=always]", "[list | remove VOLUME...]".
template <typename Callable>
void each_piece(std::string_view text, Callable&& word) {
  constexpr std::string_view kBetween = "|[]=. ";
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_of(kBetween), text.size());
    if (size != 0) word(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
}

bool stands_for_something_else(std::string_view word) {
  return std::ranges::any_of(word, [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::ranges::none_of(word, linux::is_lower);
}

/// `text`: the value of the option, or the operands of the command.
void offer_value(const Question& question, std::string_view text, Names names, Offer& offer) {
  switch (question.completes) {
    case Completes::kNothing:
      return;
    case Completes::kWords:
      each_piece(text, [&](std::string_view word) {
        if (!stands_for_something_else(word)) offer.add(word);
        if (word == "FILE" || word == "PATH") offer.add_shells_own("files");
      });
      return;
    case Completes::kFile:
      return offer.add_shells_own("files");
    case Completes::kDirectory:
      return offer.add_shells_own("directories");
    case Completes::kCapability:
      for (const std::string& name : linux::capability_names()) offer.add(name);
      return;
    case Completes::kSignal: {
      const std::string_view prefix = offer.typed().starts_with("SIG") ? "SIG" : "";
      for (const std::string_view name : linux::signal_names())
        offer.add(fmt::format("{}{}", prefix, name));
      return;
    }
    case Completes::kPodOrFile:
      if (!offer.typed().starts_with('-')) offer.add_shells_own("files");
      [[fallthrough]];
    case Completes::kContainer:
    case Completes::kPod:
    case Completes::kPodContainer:
    case Completes::kVolume:
    case Completes::kNetwork:
      for (const Candidate& name : names(question)) offer.add(name.word, name.help);
  }
}

/// The kind of the next operand; kNothing if the command takes no further operand.
Operand next_operand(const Syntax& syntax, const Arguments& arguments) {
  const std::size_t count = arguments.operands().size();
  if (count >= syntax.count.most) return {};
  for (std::size_t i = 0; i < syntax.completed_operands.size(); ++i) {
    Operand operand = syntax.completed_operands.at(i);
    if (i != count && !(i < count && operand.times == Times::kMany)) continue;
    if (arguments.has(operand.widened_by)) operand.wanted = operand.widened_to;
    return operand;
  }
  return {};
}

void offer_option(const Option& option, const Arguments& arguments, Offer& offer) {
  const bool is_given = arguments.has(option.name) && option.times == Times::kOnce;
  if (is_given) return;
  offer.add(fmt::format("--{}", option.name), option.help);
  if (option.letter != 0 && offer.typed().starts_with('-'))
    offer.add(fmt::format("-{}", option.letter), option.help);
}

void offer_options(const Reader& line, Offer& offer) {
  for (const Option& option : line.options()) offer_option(option, line.arguments(), offer);
  if (find_option(line.options(), "--help") == nullptr)
    offer_option(kHelpOption, line.arguments(), offer);
}

}  // namespace

std::size_t read_before(Reader& before, std::span<const std::string> words) {
  std::size_t index = 0;
  for (; index < words.size() && !before.is_operand(words[index]); ++index)
    ignore(before.read(words[index]));
  return index;
}

std::string completion_text(const Program& program, Names names,
                            std::span<const std::string> words) {
  if (words.empty()) return {};
  const std::string_view word = words.back();
  const auto earlier = words.first(words.size() - 1);
  Reader before(program, nullptr);
  const std::size_t index = read_before(before, earlier);
  const Syntax* syntax = index < earlier.size() ? find_syntax(program, earlier[index]) : nullptr;
  if (syntax == nullptr && index < earlier.size()) return {};
  Reader after(program, syntax);
  if (syntax != nullptr)
    for (const std::string& argument : earlier.subspan(index + 1)) ignore(after.read(argument));
  const Reader& line = syntax == nullptr ? before : after;

  const auto question = [&](Completes completes, bool (*wanted)(Status) = nullptr) {
    return Question{completes, wanted, before.arguments(), after.arguments()};
  };
  if (const Option* option = line.waiting()) {
    Offer offer("", word);
    offer_value(question(option->completes), option->value, names, offer);
    return offer.take();
  }
  const bool is_option = !line.has_only_operands() && word.starts_with('-');
  if (const std::size_t equals = word.find('='); is_option && equals != std::string_view::npos) {
    Offer offer(word.substr(0, equals + 1), word.substr(equals + 1));
    if (const Option* option = find_option(line.options(), word.substr(0, equals)))
      offer_value(question(option->completes), option->value, names, offer);
    return offer.take();
  }
  Offer offer("", word);
  const Operand operand = syntax == nullptr ? Operand() : next_operand(*syntax, after.arguments());
  const bool is_command = syntax == nullptr && !is_option;
  if (is_command)
    for (const Syntax* command : program.commands) offer.add(command->name, command->summary);
  else if (!is_option)
    offer_value(question(operand.completes, operand.wanted), syntax->operands, names, offer);
  if (is_option ||
      (!is_command && !line.has_only_operands() && operand.completes == Completes::kNothing))
    offer_options(line, offer);
  return offer.take();
}

}  // namespace ocirun::bundle::cli
