#include "source/workflow_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <ebb/handlers.h>

#include "core/model/document.h"
#include "core/model/placing.h"
#include "core/model/reader.h"
#include "core/model/type_library.h"
#include "core/model/words.h"
#include "handlers/unbound.h"
#include "source/lint.h"
#include "source/workspace_config.h"
#include "support/json.h"
#include "yaml/line_tree.h"
#include "yaml/yaml_document.h"

namespace ebb::source {

namespace {

using model::Document;
using yaml::LineTree;
using yaml::TreeNode;

/// How often the text is read again without its broken part.
constexpr int kRepairsMax = 8;

std::size_t offset_of(std::string_view text, int line, int column) {
    std::size_t at = 0;
    for (int i = 1; i < line; ++i) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) return text.size();
        at = end + 1;
    }
    const std::size_t end = std::min(text.find('\n', at), text.size());
    return std::min(at + static_cast<std::size_t>(std::max(column - 1, 0)), end);
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
        if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
    }
}

/// Blanks the smallest list item or member around the place, without changing any other place.
/// False if nothing would be left.
bool blank_around(std::string& text, int line, int column) {
    const std::size_t offset = offset_of(text, line, column);
    const LineTree tree(text);
    int node = tree.innermost(offset);
    // What is alone in its list or map takes that along: an empty one would be a fault of its own.
    while (node > 0 && tree.at(tree.at(node).parent).children.size() < 2)
        node = tree.at(node).parent;
    if (node > 0 && tree.at(node).parent == 0 && tree.at(node).whole.begin == 0 &&
        tree.root().children.size() < 2) {
        return false;
    }
    const std::size_t line_begin = offset_of(text, line, 1);
    const std::size_t line_end = std::min(text.find('\n', line_begin), text.size());
    const std::string before = text;
    if (node > 0)
        blank(
            text,
            tree.at(node).whole.begin,
            std::max<std::size_t>(tree.at(node).whole.end, line_end)
        );
    if (text == before) blank(text, line_begin, line_end);
    return text != before;
}

void locate(std::vector<Diagnostic>& problems, const Document& root, const std::string& file) {
    for (Diagnostic& problem : problems) {
        problem.file = file;
        if (problem.line > 0) continue;
        const model::Location location = model::locate(root, problem.path);
        if (location.document == nullptr) continue;
        model::set_range(problem, model::range_of(*location.document));
        problem.path = location.path;
        for (Diagnostic::Related& related : problem.related) {
            related.range = model::range_of(*model::locate(root, related.path).document);
        }
    }
}

/// What the handlers component says of the entries below `key`.
std::vector<Diagnostic> check_specs(const HandlerSpecs& specs, const std::string& key) {
    constexpr std::string_view kHandlers = "/handlers";
    std::vector<Diagnostic> problems;
    for (const auto& [name, spec] : specs) {
        for (Diagnostic& problem : validate_handler_spec(name, spec)) {
            problem.path.replace(0, kHandlers.size(), key);
            problems.push_back(std::move(problem));
        }
    }
    return problems;
}

/// The entries of `handlers:`, also of a text that is not valid otherwise.
HandlerSpecs written_handlers(const Document& root) {
    HandlerSpecs specs;
    const Document* handlers = root.is_map() ? root.find("handlers") : nullptr;
    if (handlers == nullptr || !handlers->is_map()) return specs;
    for (const Document::Member& member : handlers->members) {
        if (!member.value.is_map()) continue;
        Json json = member.value.to_json();
        json.erase("retry");
        specs[member.key] = to_text(json);
    }
    return specs;
}

void append(std::vector<Diagnostic>& all, std::vector<Diagnostic> more) {
    all.insert(
        all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end())
    );
}

void sort_by_place(std::vector<Diagnostic>& problems) {
    std::stable_sort(
        problems.begin(),
        problems.end(),
        [](const Diagnostic& a, const Diagnostic& b) {
            return std::pair(a.line, a.column) < std::pair(b.line, b.column);
        }
    );
}

/// A syntax error has one place and is followed by nothing.
void mark_to_line_end(Diagnostic& problem, std::string_view text) {
    if (problem.end_line > 0 || problem.line <= 0) return;
    const std::size_t at = offset_of(text, problem.line, problem.column);
    const bool has_more = at < text.size() && text[at] != '\n';
    problem.end_line = problem.line;
    problem.end_column = problem.column + (has_more ? 1 : 0);
}

/// A text that was repaired until it could be parsed.
struct Parsed {
    std::string text;
    std::optional<Document> root;
    std::vector<Diagnostic> problems;
};

/// YAML allows what JSON does not, such as a comma behind the last element.
void note_json_fault(
    std::vector<Diagnostic>& problems, std::string_view text, const std::string& file
) {
    try {
        model::parse_json_document(text, file);
    } catch (const DefinitionError& error) {
        Diagnostic problem = error.diagnostics().front();
        if (problem.code != "json_syntax") return;
        mark_to_line_end(problem, text);
        problems.push_back(std::move(problem));
    }
}

/// YAML would read the comments that JSON is often given as parts of keys.
void blank_comments(std::string& json) {
    for (std::size_t at = 0; at < json.size(); ++at) {
        const std::string_view rest = std::string_view(json).substr(at);
        std::size_t end = 0;
        if (rest.front() == '"') {
            ++at;
            while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
            continue;
        }
        if (rest.starts_with("//")) {
            end = std::min(json.find('\n', at), json.size());
        } else if (rest.starts_with("/*")) {
            end = std::min(json.find("*/", at + 2), json.size() - 2) + 2;
        } else {
            continue;
        }
        for (; at < end; ++at) {
            if (json[at] != '\n') json[at] = ' ';
        }
        --at;
    }
}

Parsed parse(std::string_view text, const std::string& file) {
    Parsed parsed{.text = std::string(text), .root = std::nullopt, .problems = {}};
    if (file.ends_with(".json")) note_json_fault(parsed.problems, text, file);
    if (!parsed.problems.empty()) blank_comments(parsed.text);
    int last_line = parsed.problems.empty() ? 0 : parsed.problems.front().line;
    for (int round = 0; round <= kRepairsMax; ++round) {
        try {
            parsed.root = yaml::parse_yaml_document(parsed.text, file);
            return parsed;
        } catch (const DefinitionError& error) {
            Diagnostic problem = error.diagnostics().front();
            mark_to_line_end(problem, text);
            const int line = problem.line;
            const bool is_local = problem.code == "yaml_syntax" || problem.code == "invalid_key" ||
                                  problem.code == "unknown_tag" || problem.code == "not_json";
            const int column = problem.column;
            // The same fault again, or what follows from having taken a part away.
            if (parsed.problems.empty() || line > last_line + 1)
                parsed.problems.push_back(std::move(problem));
            last_line = std::max(last_line, line);
            if (!is_local || line <= 0 || !blank_around(parsed.text, line, column)) return parsed;
        }
    }
    return parsed;
}

/// Problems that only follow from parts that were taken away.
bool follows_from_repair(const Diagnostic& problem) {
    static constexpr std::array<std::string_view, 3> kCodes = {
        "missing_key", "step_without_output", "step_not_before"
    };
    return std::find(kCodes.begin(), kCodes.end(), problem.code) != kCodes.end();
}

/// Whether each key at the top is one of a definition, or may be meant as one.
bool has_only_keys_of_workflows(const LineTree& tree) {
    constexpr auto& kKeys = model::kDefinitionKeys;
    return std::all_of(tree.root().children.begin(), tree.root().children.end(), [&](int member) {
        const std::string key = tree.key(member);
        const bool is_known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
        return is_known || !model::closest(key, kKeys).empty();
    });
}

}  // namespace

bool CheckedText::is_valid() const {
    return std::all_of(problems.begin(), problems.end(), [](const Diagnostic& problem) {
        return problem.severity == Diagnostic::Severity::Warning;
    });
}

TextKind kind_of(std::string_view name, std::string_view text) {
    return kind_of(name, LineTree(text));
}

TextKind kind_of(std::string_view name, const LineTree& tree) {
    // Its `types` are the names of files.
    if (name.ends_with(kWorkspaceConfigName)) return TextKind::Other;
    if (tree.find(0, "types") >= 0 && tree.find(0, "workflow") < 0) return TextKind::Types;
    for (const std::string_view ending : {".ebb.yaml", ".ebb.yml", ".ebb.json"}) {
        if (name.ends_with(ending)) return TextKind::Workflow;
    }
    const int name_of_it = tree.find(0, "workflow");
    if (name_of_it < 0) return TextKind::Other;
    const bool has_content =
        tree.find(0, "steps") >= 0 || tree.find(0, "nodes") >= 0 || tree.find(0, "rules") >= 0;
    if (has_content) return TextKind::Workflow;
    // `workflow: order` begins a definition, also where `steps` is misspelled. In JSON also other
    // documents of Ebb have this member: they have others that no definition has.
    const bool is_named = !tree.scalar(name_of_it).empty();
    const bool is_definition = !tree.root().is_flow || has_only_keys_of_workflows(tree);
    return is_named && is_definition ? TextKind::Workflow : TextKind::Other;
}

CheckedText check_workflow(std::string_view text, const CheckOptions& options) {
    CheckedText checked;
    Parsed parsed = parse(text, options.file);
    checked.problems = std::move(parsed.problems);
    if (!parsed.root) return checked;
    const bool is_repaired = !checked.problems.empty();
    model::Checked read = model::read_all(
        *parsed.root,
        {.file = options.file,
         .types = options.types == nullptr ? nullptr : &options.types->data(),
         .places = yaml::places_in(parsed.text),
         .is_incomplete = is_repaired}
    );
    if (is_repaired) std::erase_if(read.problems, follows_from_repair);
    checked.definition = std::move(read.definition);
    std::vector<Diagnostic> more;
    if (read.problems.empty() && !is_repaired) more = find_unbound_inputs(checked.definition);
    const bool is_readable = read.problems.empty();
    append(
        more,
        check_specs(
            is_readable ? checked.definition.handlers : written_handlers(*parsed.root), "/handlers"
        )
    );
    if (is_readable && options.with_lints) append(more, lint(checked.definition, text));
    locate(more, *parsed.root, options.file);
    append(checked.problems, std::move(read.problems));
    append(checked.problems, std::move(more));
    sort_by_place(checked.problems);
    return checked;
}

CheckedText check_types_text(std::string_view text, const CheckOptions& options) {
    CheckedText checked{.kind = TextKind::Types};
    Parsed parsed = parse(text, options.file);
    checked.problems = std::move(parsed.problems);
    if (!parsed.root || !checked.problems.empty()) return checked;
    try {
        TypeLibrary types;
        model::add_types(types.data(), *parsed.root, options.file);
        checked.problems = check_specs(types.specs(), "/types");
    } catch (const DefinitionError& error) {
        checked.problems = error.diagnostics();
    }
    locate(checked.problems, *parsed.root, options.file);
    return checked;
}

CheckedText check_text(std::string_view text, const CheckOptions& options) {
    const TextKind kind = kind_of(options.file, text);
    return kind == TextKind::Types ? check_types_text(text, options)
                                   : check_workflow(text, options);
}

}  // namespace ebb::source
