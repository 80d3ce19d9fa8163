#include "cli/cpp_file.h"

#include <utility>

#include <fmt/format.h>

#include "cli/payload_argument.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

struct Word {
    std::string path;
    std::string workflow;  ///< empty = whichever there are
};

Word split(std::string_view word) {
    const std::size_t hash = word.rfind('#');
    if (hash == std::string_view::npos) return {std::string(word), {}};
    return {std::string(word.substr(0, hash)), std::string(word.substr(hash + 1))};
}

}  // namespace

bool names_cpp_file(std::string_view word) {
    return source::is_cpp_name(word.substr(0, word.rfind('#')));
}

std::vector<CppDefinition> read_cpp_file(const std::string& word) {
    const auto [path, name] = split(word);
    const std::string text = read_file(path, source::CppLimits::kBytesMax);
    std::vector<CppDefinition> all;
    for (source::CppWorkflow& workflow : source::scan_workflows(text)) {
        if (!name.empty() && workflow.definition.name != name) continue;
        DefinitionFile file{.path = path, .text = text, .definition = workflow.definition};
        file.problems = source::check_cpp(workflow, text, path);
        all.push_back({std::move(file), std::move(workflow)});
    }
    return all;
}

bool builds_rules(const std::string& word) {
    return source::scan_cpp(read_file(split(word).path, source::CppLimits::kBytesMax)).has_rules;
}

CppDefinition read_cpp_workflow(const std::string& word) {
    std::vector<CppDefinition> all = read_cpp_file(word);
    if (all.size() == 1) return std::move(all.front());
    const auto [path, name] = split(word);
    if (all.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "{} builds no workflow{}: `ebb` looks for ebb::WorkflowBuilder(...) in the text "
                "of the file.{}{}",
                one_line(path),
                name.empty() ? "" : fmt::format(" \"{}\"", one_line(name)),
                builds_rules(path) ? " " : "",
                builds_rules(path) ? source::kRulesAreNotRead : ""
            )
        );
    }
    std::string names;
    for (const CppDefinition& one : all) {
        names += (names.empty() ? "" : ", ") + one.file.definition.name;
    }
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "{} builds {} workflows: {}. Name one of them, such as {}#{}.",
            one_line(path),
            all.size(),
            one_line(names),
            one_line(path),
            one_line(all.front().file.definition.name)
        )
    );
}

std::string exactness(const source::CppWorkflow& workflow) {
    if (workflow.is_exact()) return "exact";
    const std::size_t parts = workflow.unknown.size() + workflow.frames.size();
    return fmt::format(
        "{} part{} decided when the program runs", parts, parts == 1 ? " is" : "s are"
    );
}

}  // namespace ebb::cli
