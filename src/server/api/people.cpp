// Routes for people who look after instances: what waits for a decision, and what has failed.

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "call/event_view.h"
#include "core/kernel/program.h"
#include "server/api/failure_group.h"
#include "server/api/service.h"
#include "support/sha256.h"
#include "support/sync.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;
using Steady = std::chrono::steady_clock;

constexpr int kScanRowsMax = 20'000;
constexpr int kFailuresMax = 2'000;
constexpr auto kScanTimeMax = std::chrono::milliseconds(150);
constexpr int kScanPage = 200;
constexpr std::size_t kSamplesMax = 5;

/// Compiled definitions; a version never changes.
class Programs {
 public:
    std::shared_ptr<const Program> find(Store& store, const std::string& workflow, int version) {
        const std::pair key(workflow, version);
        {
            const Lock lock(mutex_);
            if (const auto found = programs_.find(key); found != programs_.end()) {
                return found->second;
            }
        }
        const auto row = store.find_workflow(workflow, version);
        if (!row) return nullptr;
        auto program = Program::compile(parse_definition_json(row->definition));
        const Lock lock(mutex_);
        return programs_.emplace(key, std::move(program)).first->second;
    }

 private:
    Mutex mutex_;
    std::map<std::pair<std::string, int>, std::shared_ptr<const Program>> programs_
        EBB_GUARDED_BY(mutex_);
};

/// What waits for people in the instances of one page.
class Decisions {
 public:
    Decisions(Service& service, Programs& programs, Call& call)
        : service_(service),
          programs_(programs),
          role_(call.query.text("role")),
          limit_(static_cast<std::size_t>(call.query.integer("limit", 1, kPageMax).value_or(50))) {
        query_.workflow = call.query.text("workflow").value_or("");
        query_.statuses = {InstanceStatus::Running, InstanceStatus::Paused};
        query_.limit = kScanPage;
        if (const auto cursor = call.query.text("cursor")) {
            query_.before = InstanceId::parse(*cursor);
            if (!query_.before) {
                throw Problem("invalid_argument", "The cursor is not one of this server.");
            }
        }
        call.query.check_all_used();
    }

    Json read() {
        const auto end = Steady::now() + kScanTimeMax;
        for (int scanned = 0;;) {
            const auto page = service_.reads.list(query_);
            for (const InstanceRow& row : page) {
                if (items_.size() >= limit_) return json(true, true);
                add(row);
                query_.before = row.id;
            }
            scanned += static_cast<int>(page.size());
            if (static_cast<int>(page.size()) < kScanPage) return json(false, true);
            if (scanned >= kScanRowsMax || Steady::now() >= end) return json(true, false);
        }
    }

 private:
    Json json(bool has_more, bool is_complete) const {
        return {
            {"items", items_},
            {"next_cursor", has_more ? Json(query_.before->to_string()) : Json(nullptr)},
            {"complete", is_complete},
        };
    }

    void add(const InstanceRow& row) {
        const auto program = programs_.find(service_.reads, row.workflow, row.version);
        if (!program) return;
        const InstanceState state = decode_state(row.state, *program);
        for (const Token& token : state.tokens) {
            if (token.status == TokenStatus::WaitingDecision) add(row, *program, token);
        }
    }

    void add(const InstanceRow& row, const Program& program, const Token& token) {
        const ProgramNode& node = program.node(token.node);
        const auto& roles = node.human.roles;
        const bool fits =
            !role_ || roles.empty() || std::find(roles.begin(), roles.end(), *role_) != roles.end();
        if (!fits) return;
        items_.push_back({
            {"instance", row.id.to_string()},
            {"workflow", row.workflow},
            {"version", row.version},
            {"key", view::text_json(row.key)},
            {"node", node.name},
            {"visit", token.visit},
            {"roles", roles},
            {"quorum", node.human.quorum},
            {"confirmed", token.votes.size()},
            {"since", view::time_json(row.updated_at)},
            {"deadline", view::time_json(token.due)},
        });
    }

    Service& service_;
    Programs& programs_;
    std::optional<std::string> role_;
    std::size_t limit_;
    InstanceQuery query_;
    Json items_ = Json::array();
};

/// The newest failures by what has gone wrong.
class FailureGroups {
 public:
    FailureGroups(Service& service, Programs& programs, Call& call)
        : service_(service), programs_(programs) {
        query_.workflow = call.query.text("workflow").value_or("");
        for (const std::string& status : call.query.list("status")) {
            const auto parsed = parse_status(status);
            const bool is_failure =
                parsed == InstanceStatus::DeadLetter || parsed == InstanceStatus::Failed;
            if (!is_failure) {
                throw Problem(
                    "invalid_argument", "The parameter \"status\" is not dead_letter or failed."
                );
            }
            query_.statuses.push_back(*parsed);
        }
        if (query_.statuses.empty()) {
            query_.statuses = {InstanceStatus::DeadLetter, InstanceStatus::Failed};
        }
        query_.limit = kScanPage;
        call.query.check_all_used();
    }

    Json read() {
        const auto end = Steady::now() + kScanTimeMax;
        for (int scanned = 0;;) {
            const auto page = service_.reads.list(query_);
            for (const InstanceRow& row : page) {
                query_.before = row.id;
                scanned_to_ = row.created_at;
                add(row);
                if (++scanned >= kFailuresMax || Steady::now() >= end) return json(false);
            }
            if (static_cast<int>(page.size()) < kScanPage) return json(true);
        }
    }

 private:
    struct Group {
        Json json;
        std::int64_t count = 0;
    };

    void add(const InstanceRow& row) {
        const auto program = programs_.find(service_.reads, row.workflow, row.version);
        if (!program) return;
        const Seq error = decode_state(row.state, *program).error;
        const auto events = service_.reads.history(
            {.instance = row.id, .after = error - 1, .before = error + 1, .limit = 1}
        );
        const Failure failure = events.empty() ? Failure{} : read_failure(error_of(events.front()));
        const std::string id = group_of(row.workflow, failure);
        const TimePoint at = row.finished_at == TimePoint{} ? row.updated_at : row.finished_at;
        Group& group = groups_[id];
        if (group.count++ == 0) {
            // The page is newest first, so this one is the newest of its group.
            group.json = {
                {"group", id},
                {"workflow", row.workflow},
                {"step", view::text_json(failure.step)},
                {"code", failure.code},
                {"message", failure.message},
                {"count", 0},
                {"first_at", nullptr},
                {"last_at", view::time_json(at)},
                {"versions", Json::array()},
                {"statuses", Json::object()},
                {"sample_ids", Json::array()},
            };
        }
        Json& json = group.json;
        json["count"] = group.count;
        json["first_at"] = view::time_json(at);
        Json& versions = json["versions"];
        if (std::find(versions.begin(), versions.end(), row.version) == versions.end()) {
            versions.push_back(row.version);
        }
        Json& status = json["statuses"][std::string(to_string(row.status))];
        status = status.is_null() ? 1 : status.get<int>() + 1;
        if (json["sample_ids"].size() < kSamplesMax) {
            json["sample_ids"].push_back(row.id.to_string());
        }
    }

    Json json(bool is_complete) const {
        std::vector<const Group*> sorted;
        for (const auto& [id, group] : groups_) sorted.push_back(&group);
        std::sort(sorted.begin(), sorted.end(), [](const Group* left, const Group* right) {
            return left->count > right->count;
        });
        Json items = Json::array();
        for (const Group* group : sorted) items.push_back(group->json);
        return {
            {"items", std::move(items)},
            {"complete", is_complete},
            {"scanned_to", view::time_json(scanned_to_)},
        };
    }

    Service& service_;
    Programs& programs_;
    InstanceQuery query_;
    std::map<std::string, Group> groups_;
    TimePoint scanned_to_{};
};

}  // namespace

std::vector<std::string> awaited_roles(
    Service& service, const InstanceId& id, std::string_view node
) {
    const auto row = service.store.load(id);
    const auto kept = row ? service.store.find_workflow(row->workflow, row->version) : std::nullopt;
    if (!kept) return {};
    const auto program = Program::compile(parse_definition_json(kept->definition));
    const InstanceState state = decode_state(row->state, *program);
    std::vector<const ProgramNode*> found;
    for (const Token& token : state.tokens) {
        const ProgramNode& at = program->node(token.node);
        const bool is_meant = node.empty() || at.name == node;
        if (token.status == TokenStatus::WaitingDecision && is_meant) found.push_back(&at);
    }
    return found.size() == 1 ? found.front()->human.roles : std::vector<std::string>{};
}

void add_people_routes(Routes& routes, Service& service) {
    const auto programs = std::make_shared<Programs>();
    routes.push_back(
        {.method = "GET",
         .path = "/decisions",
         .operation = "listDecisions",
         .permission = "decisions.read",
         .handle = [&service, programs](Call& call
                   ) { return json_response(200, Decisions(service, *programs, call).read()); }}
    );
    routes.push_back(
        {.method = "GET",
         .path = "/failures/groups",
         .operation = "listFailureGroups",
         .permission = "instances.read",
         .handle = [&service, programs](Call& call
                   ) { return json_response(200, FailureGroups(service, *programs, call).read()); }}
    );
}

}  // namespace ebb::server
