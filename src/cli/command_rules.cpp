// `ebb rules check`: what rules cannot do, and what they can do that was probably not meant.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/yaml.h>

#include "cli/compare_commands.h"
#include "cli/definition_file.h"
#include "cli/exit_code.h"
#include "cli/fill.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/rules_commands.h"
#include "cli/text.h"
#include "core/rules/write.h"
#include "core/rules_analysis/analysis.h"
#include "core/rules_analysis/explore.h"
#include "core/rules_analysis/subject.h"
#include "source/lint.h"
#include "store/rules_views.h"
#include "view/problem_json.h"

namespace ebb::cli {

namespace {

using rules_analysis::AnalysisReport;
using rules_analysis::Exploration;
using Ordered = nlohmann::ordered_json;

/// As those of linters: another one than that of a file that cannot be read.
constexpr int kHasFindings = 1;

/// A file, or NAME[@VERSION] of the database, whose text is then its YAML.
DefinitionFile read_rules(const std::string& word, Session& session) {
    DefinitionFile file;
    if (names_file(word)) {
        file = load_definition_file(word, session);
    } else {
        file.path = word;
        file.definition = read_registered(session, "rules check", word);
        file.text = definition_to_yaml(file.definition);
    }
    if (file.definition.rules) return file;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{} has steps and no rules: there is nothing to check.", one_line(word))
    );
}

/// An input that the rules refuse would make all findings meaningless.
void check_start(const Definition& definition, const Payload& start) {
    const rules::Program program(*definition.rules, rules_analysis::transition_names(definition));
    const rules::Outcome outcome = rules::write(
        program, program.initial_state(), {.source = rules::Write::Source::Start, .values = start}
    );
    if (outcome.verdict != rules::Outcome::Verdict::Refused) return;
    throw Error(
        ErrorCode::InvalidArgument, "An instance cannot start with this input: " + outcome.message
    );
}

bool is_bad(const Diagnostic& finding, bool is_strict) {
    return is_strict || finding.severity == Diagnostic::Severity::Error;
}

std::string ways_text(const std::optional<std::uint64_t>& ways) {
    if (!ways) return "any number of ways (there are cycles)";
    if (*ways == rules_analysis::kWaysMax) return fmt::format("{} ways or more", *ways);
    return fmt::format("{} way{}", *ways, *ways == 1 ? "" : "s");
}

std::string exploration_text(const Exploration& found) {
    std::string text = fmt::format(
        "explored {} state{}{}\n",
        found.states,
        found.states == 1 ? "" : "s",
        found.is_complete ? ": " + ways_text(found.ways) : ", and not all: raise --explore"
    );
    for (const Exploration::Ending& ending : found.endings) {
        text += fmt::format(
            "  {}: {} {}\n",
            one_line(ending.what),
            ways_text(ending.ways),
            one_line(std::string(ending.attributes))
        );
    }
    for (const auto& [code, count] : found.refused) {
        text += fmt::format("  refused ({}): {}\n", one_line(code), count);
    }
    for (const std::string& fault : found.faults) {
        text += fmt::format("  fault: {}\n", one_line(fault));
    }
    return text;
}

Ordered exploration_json(const Exploration& found) {
    Ordered endings = Ordered::array();
    const auto ways_json = [](const std::optional<std::uint64_t>& ways) {
        return ways ? Ordered(*ways) : Ordered(nullptr);
    };
    for (const Exploration::Ending& ending : found.endings) {
        endings.push_back(
            {{"ending", ending.what},
             {"attributes", Ordered::parse(ending.attributes)},
             {"ways", ways_json(ending.ways)}}
        );
    }
    Ordered refused = Ordered::object();
    for (const auto& [code, count] : found.refused) refused[code] = count;
    return {
        {"states", found.states},
        {"complete", found.is_complete},
        {"ways", ways_json(found.ways)},
        {"endings", std::move(endings)},
        {"refused", std::move(refused)},
        {"faults", found.faults},
    };
}

void print_text(
    Session& session,
    const DefinitionFile& file,
    const AnalysisReport& report,
    const std::optional<Exploration>& explored
) {
    std::string text;
    for (const Diagnostic& finding : file.problems) {
        text += diagnostic_text(file, finding, session.err());
    }
    session.streams().err.write(fill(text, session.streams().err));
    const Style& style = session.out();
    session.print(fmt::format(
        "{} {}: {} v{} has {} finding{} ({} state{}{})\n",
        style.paint(
            file.problems.empty() ? Style::Color::Green : Style::Color::Yellow,
            file.problems.empty() ? style.glyphs().done : style.glyphs().dash
        ),
        one_line(file.path),
        file.definition.name,
        file.definition.version,
        file.problems.size(),
        file.problems.size() == 1 ? "" : "s",
        report.states,
        report.states == 1 ? "" : "s",
        report.is_complete() ? "" : "; there are more: what is not reached was not looked for"
    ));
    if (!report.is_complete()) session.print(fill(report.gap + "\n", session.streams().out));
    if (explored) session.print(exploration_text(*explored));
}

Ordered json_of(
    const DefinitionFile& file,
    const AnalysisReport& report,
    const std::optional<Exploration>& explored
) {
    Ordered json = {
        {"file", file.path},
        {"workflow", file.definition.name},
        {"version", file.definition.version},
        {"states", report.states},
        {"complete", report.is_complete()},
        {"gap", report.is_complete() ? Ordered(nullptr) : Ordered(report.gap)},
        {"findings", Ordered::parse(view::detailed_problems_json(file.problems).dump())},
    };
    if (explored) json["exploration"] = exploration_json(*explored);
    return json;
}

/// `ebb rules view`: views by which other programs read instances.
int make_views(Session& session, const RulesOptions& options) {
    if (options.subjects.size() != 1) {
        throw Error(ErrorCode::InvalidArgument, "`ebb rules view` needs the name of one workflow.");
    }
    session.require_database("rules view");
    const Definition definition = read_registered(session, "rules view", options.subjects.front());
    if (!definition.rules) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("{} has steps and no rules: it has no attributes.", definition.name)
        );
    }
    const RulesViews views{.workflow = definition.name, .attributes = definition.rules->attributes};
    const StoreUrl url = parse_store_url(session.options().db);
    if (url.kind == StoreUrl::Kind::Postgres) {
        make_rules_views(
            PostgresOptions{.url = url.path, .application_name = "ebb rules view"}, views
        );
    } else {
        make_rules_views(SqliteOptions{.path = url.path}, views);
    }
    const std::vector<std::string> names = rules_views::names_of(views.workflow);
    if (session.options().is_json) {
        session.print_json({{"views", names}});
    } else {
        session.print(fmt::format("Made the views {}.\n", fmt::join(names, ", ")));
    }
    return kOk;
}

}  // namespace

int check_rules_file(Session& session, const RulesOptions& options) {
    if (options.subjects.size() != 1) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb rules check` needs one file, or NAME[@VERSION] of the database."
        );
    }
    DefinitionFile file = read_rules(options.subjects.front(), session);
    rules_analysis::AnalysisOptions asked;
    asked.limits.states_max = static_cast<std::size_t>(options.states);
    for (const std::string& start : options.starts) {
        asked.starts.push_back(read_payload(start, "--input", session.streams()));
        check_start(file.definition, asked.starts.back());
    }
    AnalysisReport report = rules_analysis::analyze(file.definition, asked);
    const auto allowed = source::allowed_codes(file.text);
    for (Diagnostic& finding : report.findings) {
        if (!allowed.contains(finding.code)) file.problems.push_back(std::move(finding));
    }
    locate_problems(file);
    std::optional<Exploration> explored;
    if (options.explored > 0) {
        rules_analysis::ExploreOptions exploring;
        exploring.states_max = static_cast<std::size_t>(options.explored);
        if (!asked.starts.empty()) exploring.input = asked.starts.front();
        explored = rules_analysis::explore(file.definition, exploring);
    }
    const bool as_json =
        options.format.empty() ? session.options().is_json : options.format == "json";
    if (as_json) {
        session.print_json(json_of(file, report, explored));
    } else {
        print_text(session, file, report, explored);
    }
    const bool has_fault = explored && !explored->faults.empty();
    const bool is_well =
        std::none_of(file.problems.begin(), file.problems.end(), [&](const Diagnostic& finding) {
            return is_bad(finding, options.is_strict);
        });
    return is_well && !has_fault ? kOk : kHasFindings;
}

int handle_rules(Session& session, const RulesOptions& options) {
    if (options.action == "check") return check_rules_file(session, options);
    if (options.action == "diff") return compare_rules(session, options);
    if (options.action == "import-wed") return import_wed(session, options);
    if (options.action == "wsql") return convert_wsql(session, options);
    if (options.action == "view") return make_views(session, options);
    if (options.action == "install") return install_rules(session, options);
    if (options.action == "uninstall") return uninstall_rules(session, options);
    throw Error(
        ErrorCode::InvalidArgument,
        "`ebb rules` needs an action: check FILE|NAME, diff OLD NEW, view WORKFLOW, "
        "install WORKFLOW, uninstall WORKFLOW, import-wed URL, or wsql FILE."
    );
}

}  // namespace ebb::cli
