// Code lenses: what can be done with a workflow, and who serves its handlers. Only those whose
// command the client has.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/missing.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

constexpr const char* kRun = "ebb.run";
constexpr const char* kDiagram = "ebb.showDiagram";
constexpr const char* kValidate = "ebb.validate";
constexpr const char* kProblems = "ebb.showProblems";
constexpr const char* kExpand = "ebb.showExpanded";
constexpr const char* kGoTo = "ebb.goTo";
/// Of a code action; no lens has it.
constexpr const char* kCopy = "ebb.copyText";
constexpr std::size_t kLensesMax = 500;

constexpr std::array<std::string_view, 7> kKnownCommands = {
    kRun, kDiagram, kValidate, kProblems, kExpand, kGoTo, kCopy
};

std::string problems_text(std::size_t count) {
    return fmt::format("{} problem{}", count, count == 1 ? "" : "s");
}

std::string file_of(const std::string& uri) {
    return uri.substr(uri.rfind('/') + 1);
}

class Lenses {
 public:
    Lenses(
        const Document& document,
        const std::set<std::string, std::less<>>& commands,
        const CheckSettings& settings
    )
        : document_(document), commands_(commands), settings_(settings) {}

    Json run() {
        if (document_.is_cpp()) {
            for (const source::CppWorkflow& workflow : document_.cpp().workflows) {
                add_builder(workflow);
            }
            return std::move(list_);
        }
        const yaml::LineTree& tree = document_.tree();
        const int name = tree.find(0, "workflow");
        if (document_.kind() != source::TextKind::Workflow || name < 0) return std::move(list_);
        const std::size_t head = tree.at(name).whole.begin;
        add(head, "Run", kRun, {document_.uri()});
        add(head, "Show diagram", kDiagram, {document_.uri()});
        add(head, "Validate", kValidate, {document_.uri()});
        add_problems(head, document_.checked(settings_).problems.size());
        if (settings_.is_index_whole && settings_.index->has_registrations()) add_handlers();
        return std::move(list_);
    }

 private:
    const Document& document_;
    const std::set<std::string, std::less<>>& commands_;
    CheckSettings settings_;
    Json list_ = Json::array();

    void add(std::size_t at, std::string title, const char* command, Json arguments) {
        const bool is_said_only = *command == '\0';
        if (!is_said_only && !commands_.contains(command)) return;
        if (list_.size() >= kLensesMax) return;
        list_.push_back(
            {{"range", range_json(document_.lines(), at, at)},
             {"command",
              {{"title", std::move(title)},
               {"command", command},
               {"arguments", std::move(arguments)}}}}
        );
    }

    void add_problems(std::size_t at, std::size_t count) {
        if (count > 0) add(at, problems_text(count), kProblems, {document_.uri()});
    }

    /// Above the code that builds a workflow.
    void add_builder(const source::CppWorkflow& workflow) {
        const std::size_t at = workflow.place.begin;
        add(at, "Show diagram", kDiagram, {document_.uri()});
        if (!commands_.contains(kProblems) && !commands_.contains(kExpand)) return;
        const std::size_t problems =
            source::check_cpp(workflow, document_.text(), document_.uri()).size();
        add_problems(at, problems);
        const bool is_known = workflow.is_exact() && problems == 0;
        const Json place = to_json(document_.lines().position(at));
        if (is_known) add(at, "Export YAML", kExpand, {document_.uri(), place});
    }

    void add_handlers() {
        if (!commands_.contains(kGoTo)) return;
        const Definition& definition = document_.checked(settings_).definition;
        for (const HandlerPlace& call : outside_calls(document_)) {
            if (definition.handlers.contains(call.name)) continue;
            const auto code = settings_.index->registrations(call.name, "");
            if (code.empty()) {
                add(call.begin, fmt::format("{}: unserved", call.name), "", Json::array());
                continue;
            }
            const WorkspaceIndex::Place& first = code.front();
            const std::string more =
                code.size() == 1 ? "" : fmt::format(" and {} more", code.size() - 1);
            add(call.begin,
                fmt::format("{} in {}{}", call.name, file_of(first.uri), more),
                kGoTo,
                {first.uri, to_json(first.begin)});
        }
    }
};

}  // namespace

void Server::read_commands(const Json& params) {
    const Json::json_pointer kCommands("/initializationOptions/commands");
    const Json::json_pointer kRefresh("/capabilities/workspace/codeLens/refreshSupport");
    if (!params.is_object()) return;
    can_refresh_lenses_ = params.contains(kRefresh) && params[kRefresh] == true;
    if (!params.contains(kCommands) || !params[kCommands].is_array()) return;
    for (const Json& command : params[kCommands]) {
        if (!command.is_string()) continue;
        const auto& name = command.get_ref<const std::string&>();
        const bool is_known =
            std::find(kKnownCommands.begin(), kKnownCommands.end(), name) != kKnownCommands.end();
        if (is_known) commands_.insert(name);
    }
}

Json Server::list_lenses(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) return Json::array();
    index_open_code();
    return Lenses(*document, commands_, settings()).run();
}

}  // namespace ebb::lsp
