// What can be said of a workflow that C++ code builds.

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/diagram/notes.h"
#include "core/model/walk.h"
#include "source/cpp_workflow.h"

namespace ebb::source {

namespace {

/// Problems of one value, which nothing else in the workflow can cause or remove.
constexpr std::array<std::string_view, 5> kLocalCodes = {
    "invalid_expression", "invalid_duration", "invalid_time", "invalid_name", "out_of_range"
};

/// Keys whose values say nothing of other nodes, and the problems that such a value can cause or
/// remove elsewhere than at its own place.
constexpr std::array<std::string_view, 9> kValueKeys = {
    "timeout",
    "step_timeout",
    "max_attempts",
    "max_retries",
    "backoff",
    "deadline",
    "priority",
    "step_budget",
    "max_iterations"
};
constexpr std::array<std::string_view, 4> kValueCodes = {
    "deadline_missing", "non_idempotent_attempts", "loop_condition", "definition_too_large"
};

/// Is only a duration or a number unknown, and not which nodes there are, or their names?
bool is_value(const CppUnknown& unknown) {
    std::string_view path = unknown.path;
    while (!path.empty()) {
        const std::size_t slash = path.rfind('/');
        const std::string_view key = path.substr(slash + 1);
        if (std::find(kValueKeys.begin(), kValueKeys.end(), key) != kValueKeys.end()) return true;
        const bool is_number = key.find_first_not_of("0123456789") == std::string_view::npos;
        if (is_number || slash == std::string_view::npos) return false;
        path = path.substr(0, slash);
    }
    return false;
}

bool is_inside(std::string_view path, std::string_view outer) {
    return path == outer || (path.starts_with(outer) && path[outer.size()] == '/');
}

/// May an unknown part have caused the problem?
bool depends_on_unknown(const CppWorkflow& workflow, const Diagnostic& problem) {
    const auto has_code = [&problem](const auto& codes) {
        return std::find(codes.begin(), codes.end(), problem.code) != codes.end();
    };
    const bool has_all_nodes =
        workflow.frames.empty() &&
        std::all_of(workflow.unknown.begin(), workflow.unknown.end(), is_value);
    const bool is_independent = has_all_nodes ? !has_code(kValueCodes) : has_code(kLocalCodes);
    if (!is_independent) return true;
    return std::any_of(
        workflow.unknown.begin(),
        workflow.unknown.end(),
        [&](const CppUnknown& unknown) {
            return !unknown.path.empty() &&
                   (is_inside(problem.path, unknown.path) || is_inside(unknown.path, problem.path));
        }
    );
}

/// Lines and columns of byte offsets.
class Lines {
 public:
    explicit Lines(std::string_view text) : text_(text) {
        for (std::size_t at = text.find('\n'); at != std::string_view::npos;
             at = text.find('\n', at + 1)) {
            starts_.push_back(at + 1);
        }
    }

    SourceRange range(CppPlace place) const {
        const auto [line, column] = at(place.begin);
        const auto [end_line, end_column] = at(place.end);
        return {line, column, end_line, end_column};
    }

 private:
    std::string_view text_;
    std::vector<std::size_t> starts_{0};

    std::pair<int, int> at(std::size_t offset) const {
        offset = std::min(offset, text_.size());
        const auto line = std::upper_bound(starts_.begin(), starts_.end(), offset) - 1;
        const std::string_view before = text_.substr(*line, offset - *line);
        const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        });
        return {static_cast<int>(line - starts_.begin()) + 1, static_cast<int>(characters) + 1};
    }
};

/// Which key of the node is unknown: `timeout: kSlow`.
std::string unknown_words(const CppUnknown& unknown, const std::string& node_path) {
    std::string key = unknown.path.substr(std::min(unknown.path.size(), node_path.size()));
    if (!key.empty()) key.erase(0, 1);
    return key.empty() ? unknown.text : key + ": " + unknown.text;
}

/// The node that `path` is said of: the innermost one whose path it begins with.
std::string node_of(std::string path, const std::map<std::string, std::string>& words) {
    while (!path.empty() && !words.contains(path)) {
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    return path;
}

}  // namespace

bool is_cpp_name(std::string_view name) {
    constexpr std::array<std::string_view, 8> kEndings = {
        ".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".h", ".ipp"
    };
    return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
        return name.ends_with(ending);
    });
}

diagram::Notes notes_of(const CppWorkflow& workflow) {
    diagram::Notes notes;
    if (workflow.is_exact()) return notes;
    const model::Walk walk(workflow.definition);
    std::map<std::string, std::string> words;  // by path
    for (const model::Placed& placed : walk.nodes()) {
        const auto frame = workflow.frames.find(placed.path);
        words[placed.path] = frame == workflow.frames.end() ? "" : frame->second;
    }
    for (const CppUnknown& unknown : workflow.unknown) {
        const std::string path = node_of(unknown.path, words);
        if (path.empty()) continue;
        std::string& text = words[path];
        text += (text.empty() ? "" : " · ") + unknown_words(unknown, path);
    }
    for (const model::Placed& placed : walk.nodes()) {
        std::string& text = words[placed.path];
        if (text.empty()) continue;
        notes.nodes[placed.node->name] = {diagram::Note::Kind::Dynamic, std::move(text)};
    }
    const std::size_t parts = workflow.unknown.size() + workflow.frames.size();
    notes.headline =
        fmt::format("{} part{} decided when the program runs", parts, parts == 1 ? " is" : "s are");
    return notes;
}

CppWithheld withheld_problems(const CppWorkflow& workflow, std::string_view text) {
    CppWithheld withheld;
    if (workflow.is_exact()) return withheld;
    for (const Diagnostic& problem : validate(workflow.definition)) {
        // A local one is of the text that stands for the unknown part.
        const bool is_local =
            std::find(kLocalCodes.begin(), kLocalCodes.end(), problem.code) != kLocalCodes.end();
        if (!is_local && depends_on_unknown(workflow, problem)) ++withheld.count;
    }
    CppPlace place = workflow.unknown.empty() ? workflow.place : workflow.unknown.front().place;
    if (workflow.unknown.empty()) place = workflow.place_of(workflow.frames.begin()->first);
    withheld.line = Lines(text).range(place).line;
    return withheld;
}

std::vector<Diagnostic> check_cpp(
    const CppWorkflow& workflow, std::string_view text, const std::string& file
) {
    std::vector<Diagnostic> problems = validate(workflow.definition);
    if (!workflow.is_exact()) {
        std::erase_if(problems, [&](const Diagnostic& problem) {
            return depends_on_unknown(workflow, problem);
        });
    }
    if (problems.empty()) return problems;
    const Lines lines(text);
    for (Diagnostic& problem : problems) {
        const SourceRange range = lines.range(workflow.place_of(problem.path));
        problem.file = file;
        problem.line = range.line;
        problem.column = range.column;
        problem.end_line = range.end_line;
        problem.end_column = range.end_column;
        problem.fixes.clear();  // they are edits of YAML
        for (Diagnostic::Related& related : problem.related) {
            related.range = lines.range(workflow.place_of(related.path));
        }
    }
    return problems;
}

}  // namespace ebb::source
