#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/model/check.h"
#include "core/model/labels_check.h"
#include "core/model/placing.h"
#include "core/model/reader.h"
#include "core/model/samples.h"
#include "core/model/type_library.h"
#include "support/json.h"

namespace ebb::model {

namespace {

/// A key that comes twice would silently win or lose, whichever parser reads the text.
void note_duplicates(Problems& problems, const Document& document, const std::string& path) {
    for (std::size_t i = 0; i < document.elements.size(); ++i) {
        note_duplicates(problems, document.elements[i], fmt::format("{}/{}", path, i));
    }
    std::map<std::string_view, const Document::Member*> seen;
    for (const Document::Member& member : document.members) {
        const std::string member_path = path + "/" + escape_pointer(member.key);
        note_duplicates(problems, member.value, member_path);
        const auto [first, is_first] = seen.emplace(member.key, &member);
        if (is_first) continue;
        Diagnostic diagnostic{
            .code = "duplicate_key",
            .path = member_path,
            .message = fmt::format("The key {} is given twice: keep one.", in_quotes(member.key)),
        };
        set_range(diagnostic, range_of_key(member));
        diagnostic.related.push_back(
            {.message = fmt::format("The key {} is already here.", in_quotes(member.key)),
             .range = range_of_key(*first->second),
             .path = member_path}
        );
        problems.add(std::move(diagnostic), member.value.order);
    }
}

/// And into `defaults` what the entries say of attempts.
HandlerSpecs read_handlers(const MapReader& root, StepDefaults& defaults) {
    const Document* value = root.find("handlers");
    if (value == nullptr) return {};
    if (!value->is_map()) {
        root.note(
            "wrong_type",
            "handlers",
            fmt::format("\"handlers\" must be a map of names, but here is {}.", describe(*value))
        );
        return {};
    }
    HandlerSpecs specs;
    for (const Document::Member& member : value->members) {
        TypeEntry entry = split_entry(member.value);
        const std::string path = root.path_of("handlers") + "/" + escape_pointer(member.key);
        defaults.of_handler[member.key] =
            read_retry(root.problems(), entry, path, defaults.attempts);
        specs[member.key] = std::move(entry.spec);
    }
    return specs;
}

/// What a library says of attempts, which was found to be well when it was read.
void note_types(const TypeLibraryData* types, StepDefaults& defaults) {
    if (types == nullptr) return;
    Problems none;
    for (const auto& [name, entry] : types->types) {
        defaults.of_handler[name] = read_retry(none, entry, {}, defaults.attempts);
    }
}

bool is_at_or_below(std::string_view path, const std::set<std::string, std::less<>>& above) {
    while (!above.contains(path)) {
        const std::size_t end = path.rfind('/');
        if (end == std::string_view::npos) return false;
        path = path.substr(0, end);
    }
    return true;
}

/// Problems that only follow from a part that could not be read.
bool is_doubtful(const Problems& problems, std::string_view code) {
    static constexpr std::array<std::string_view, 7> kDoubtful = {
        "empty_block",
        "unknown_step",
        "unused_handler",
        "too_few_branches",
        "unknown_node",
        "unreachable",
        "endless_graph"
    };
    return problems.is_incomplete() &&
           std::find(kDoubtful.begin(), kDoubtful.end(), code) != kDoubtful.end();
}

/// What to mark for a finding: of a problem with a part of a text that part, if its place is known.
SourceRange range_of_finding(
    const Document& document, const Finding& finding, const TextPlaces& places
) {
    const SourceRange whole = range_of(document);
    if (!finding.span || !document.is_text() || !places) return whole;
    const std::optional<Place> begin = places(document, finding.span->begin);
    const std::optional<Place> end = places(document, finding.span->end);
    if (!begin || !end) return whole;
    return {
        .line = begin->line,
        .column = begin->column,
        .end_line = end->line,
        .end_column = end->column
    };
}

void add_fix(Diagnostic& diagnostic, const Document& document, const Finding& finding) {
    if (finding.meant.empty() || !document.is_text()) return;
    const SourceRange range{
        .line = diagnostic.line,
        .column = diagnostic.column,
        .end_line = diagnostic.end_line,
        .end_column = diagnostic.end_column
    };
    const std::string& text = document.text();
    if (!finding.span) {
        // An expression that loses its braces is not a single word.
        if (text.starts_with("${") && range.line == range.end_line) {
            diagnostic.fixes.push_back(
                {.title = "Remove the ${ }", .range = range, .replacement = finding.meant}
            );
            return;
        }
        return add_replacement(diagnostic, range, text, finding.meant);
    }
    if (range == range_of(document) && finding.span->end - finding.span->begin < text.size())
        return;
    const std::string old =
        text.substr(finding.span->begin, finding.span->end - finding.span->begin);
    add_replacement(diagnostic, range, old, finding.meant);
}

/// Adds the findings of `check`, with their places in the document.
void add_findings(
    Problems& problems,
    const Definition& definition,
    const Document& root,
    const ReadOptions& options
) {
    std::set<std::string, std::less<>> unread;
    for (const Problem& problem : problems.all()) unread.insert(problem.diagnostic.path);
    const Findings findings = check(definition, options.origin);
    for (const Finding& finding : findings.all()) {
        const Location location = locate(root, finding.diagnostic.path);
        const bool is_known = is_at_or_below(location.path, unread);
        if (is_known || is_doubtful(problems, finding.diagnostic.code)) continue;
        Diagnostic diagnostic = finding.diagnostic;
        set_range(diagnostic, range_of_finding(*location.document, finding, options.places));
        diagnostic.path = location.path;
        add_fix(diagnostic, *location.document, finding);
        for (Diagnostic::Related& related : diagnostic.related) {
            const Location other = locate(root, related.path);
            related.path = other.path;
            related.range = range_of(*other.document);
        }
        problems.add(std::move(diagnostic), location.document->order);
    }
}

/// Of the graph that a workflow is whose text has `nodes` instead of `steps`.
constexpr std::string_view kTopGraphName = "graph";

/// The nodes, whether they are in sequence or joined by edges.
Block read_steps(const MapReader& map, const StepDefaults& defaults) {
    if (!map.has("nodes")) {
        map.require("steps", "it is the list of what the workflow does");
        for (const std::string_view key : {"entry", "edges", "unmatched"}) {
            if (!map.has(key)) continue;
            map.note(
                "missing_key", key, fmt::format("\"{}\" has no effect without \"nodes\".", key)
            );
        }
        return read_block(map, "steps", defaults);
    }
    if (map.has("steps")) {
        map.problems().set_incomplete();
        map.note(
            "steps_and_nodes",
            "nodes",
            "A workflow has either \"steps\" (one after another) or \"nodes\" (joined by "
            "\"edges\"), "
            "not both: put a `graph` among the steps."
        );
    }
    return {
        {.name = std::string(kTopGraphName),
         .description = {},
         .kind = read_graph(map, defaults),
         .metadata = {}}
    };
}

std::vector<Diagnostic> problems_in_order(const Problems& problems, const std::string& file) {
    // By place, and at the same place as they were found.
    std::multimap<std::size_t, Diagnostic> sorted;
    for (const Problem& problem : problems.all()) {
        sorted.emplace(problem.order, problem.diagnostic)->second.file = file;
    }
    std::vector<Diagnostic> diagnostics;
    for (auto& [order, diagnostic] : sorted) diagnostics.push_back(std::move(diagnostic));
    return diagnostics;
}

}  // namespace

Definition read_definition(const Document& root, Problems& problems, const TypeLibraryData* types) {
    note_duplicates(problems, root, "");
    if (!root.is_map()) {
        problems.set_incomplete();
        problems.add(
            "wrong_type",
            "",
            root,
            fmt::format(
                "A definition must be a map with \"workflow\" and \"steps\", but here is {}.",
                describe(root)
            )
        );
        return {};
    }
    const std::string path;
    const MapReader map(problems, root, path);
    map.allow_only({kDefinitionKeys.begin(), kDefinitionKeys.end()});
    map.require("workflow", "it is the workflow's name");
    StepDefaults defaults = read_defaults(map);
    note_types(types, defaults);
    HandlerSpecs handlers = read_handlers(map, defaults);
    const Definition otherwise;
    Definition definition{
        .name = map.free_text("workflow"),
        .version = map.small_integer("version", otherwise.version),
        .description = map.free_text("description"),
        .on_error = map.word("on_error", kOnErrorWords, otherwise.on_error),
        .deadline = map.duration("deadline", otherwise.deadline),
        .step_budget = map.integer("step_budget", otherwise.step_budget),
        .priority = map.small_integer("priority", otherwise.priority),
        .input_schema = map.payload("input_schema"),
        .output = map.payload("output"),
        .labels = read_labels(map),
        .sensitive = map.texts("sensitive"),
        .handlers = std::move(handlers),
        .steps = map.has("rules") ? Block{} : read_steps(map, defaults),
    };
    check_samples(map, definition.input_schema);
    if (map.has("rules")) read_rules(map, defaults, definition);
    if (types != nullptr) take_types(definition, *types);
    return definition;
}

void throw_problems(const Problems& problems, const std::string& file) {
    throw DefinitionError(problems_in_order(problems, file));
}

Checked read_all(const Document& root, const ReadOptions& options) {
    Problems problems;
    if (options.is_incomplete) problems.set_incomplete();
    Checked checked;
    checked.definition = read_definition(root, problems, options.types);
    add_findings(problems, checked.definition, root, options);
    checked.problems = problems_in_order(problems, options.file);
    return checked;
}

Definition read_and_check(const Document& root, const ReadOptions& options) {
    Checked checked = read_all(root, options);
    if (!checked.problems.empty()) throw DefinitionError(std::move(checked.problems));
    return std::move(checked.definition);
}

Definition read_stored(std::string_view json) {
    return read_and_check(parse_json_document(json), {.origin = Origin::Stored});
}

}  // namespace ebb::model
