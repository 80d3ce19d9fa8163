#include "server/api/service.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/kernel/label_codec.h"
#include "store/names.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

constexpr std::string_view kKeyPrefix = "key:";
/// The permission to know that an instance exists.
constexpr Permission kSee = "instances.read";
constexpr std::size_t kHexDigits = 32;
constexpr std::size_t kPrefixMin = 4;
constexpr int kCandidatesMax = 8;

/// The hexadecimal digits without dashes; empty if there is anything else.
std::string digits_of(std::string_view text) {
    std::string digits;
    for (char c : text) {
        if (c == '-') continue;
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
        const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (!is_digit) return {};
        digits += c;
    }
    return digits;
}

InstanceId id_of(const std::string& digits, char rest) {
    std::string text = digits + std::string(kHexDigits - digits.size(), rest);
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) text.insert(dash, 1, '-');
    return *InstanceId::parse(text);
}

[[noreturn]] void throw_no_instance(std::string_view what) {
    throw Problem("instance_not_found", fmt::format("There is no instance {}.", what));
}

/// For an instance that the principal may not see: the same message as if it did not exist, with
/// nothing that the caller has not sent.
[[noreturn]] void throw_invisible(std::string_view reference, const InstanceId& id) {
    if (reference.starts_with(kKeyPrefix)) throw_no_instance("with this key");
    throw_no_instance(id.to_string());
}

InstanceId find_by_key(Service& service, const Principal& principal, std::string_view reference) {
    const std::string_view name = reference.substr(kKeyPrefix.size());
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size()) {
        throw Problem("invalid_argument", "A key is named as key:WORKFLOW/KEY.");
    }
    const std::string workflow(name.substr(0, slash));
    // Whether it is one that the principal may see, the caller checks.
    const bool is_visible = principal.may_with_own(kSee, workflow);
    const auto id =
        is_visible ? service.reads.find_key(workflow, name.substr(slash + 1)) : std::nullopt;
    if (!id) throw_no_instance("with this key");
    return *id;
}

InstanceId find_by_prefix(Service& service, const Principal& principal, const std::string& digits) {
    const InstanceId first = id_of(digits, '0');
    const auto visible = visible_instances(service, principal, "");
    std::vector<InstanceRow> rows;
    if (visible && !visible->own) {
        rows = service.reads.list(
            {.workflow = visible->workflows, .before = id_of(digits, 'f'), .limit = kCandidatesMax}
        );
    } else if (visible) {
        rows = service.reads
                   .search({
                       .workflow = visible->workflows,
                       .where = *visible->own,
                       .before = id_of(digits, 'f'),
                       .from = first,
                       .limit = kCandidatesMax,
                   })
                   .rows;
    }
    std::erase_if(rows, [&](const InstanceRow& row) { return row.id < first; });
    if (rows.empty()) throw_no_instance("whose id begins so");
    if (rows.size() == 1) return rows.front().id;
    nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
    for (const InstanceRow& row : rows) candidates.push_back(row.id.to_string());
    throw Problem("ambiguous", "Several instances begin so; give more of the id.")
        .with("candidates", std::move(candidates));
}

InstanceId find(Service& service, const Principal& principal, std::string_view reference) {
    if (reference.starts_with(kKeyPrefix)) return find_by_key(service, principal, reference);
    const std::string digits = digits_of(reference);
    if (digits.size() < kPrefixMin || digits.size() > kHexDigits) {
        throw Problem(
            "invalid_argument",
            "An instance is named by its id, its first 4 or more characters, or "
            "key:WORKFLOW/KEY."
        );
    }
    if (digits.size() == kHexDigits) return id_of(digits, '0');
    return find_by_prefix(service, principal, digits);
}

[[noreturn]] void throw_not_allowed(
    const Principal& principal, Permission permission, const std::string& workflow
) {
    throw Problem(
        "not_allowed",
        fmt::format(
            "{} lacks the permission {} for the workflow {}.", principal.name, permission, workflow
        )
    );
}

/// `application/json; q=0.5` as its type and its weight; a weight of zero excludes it.
bool accepts(std::string_view range, std::string_view offered) {
    const std::size_t semicolon = std::min(range.find(';'), range.size());
    std::string_view type = range.substr(0, semicolon);
    while (!type.empty() && type.front() == ' ') type.remove_prefix(1);
    while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
    const std::string_view rest = range.substr(semicolon);
    if (rest.find("q=0") != std::string_view::npos && rest.find("q=0.") == std::string_view::npos) {
        return false;
    }
    if (type == "*/*" || http::is_same_name(type, offered)) return true;
    return type.ends_with("/*") && offered.starts_with(type.substr(0, type.size() - 1));
}

}  // namespace

const std::string& Call::parameter(std::string_view name) const {
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
        throw Problem("internal", fmt::format("There is no parameter {}.", name));
    }
    return found->second;
}

AuditEntry Call::audit_entry(std::string_view action) const {
    return {
        .principal = principal.name,
        .credential = std::string(to_string(principal.kind)),
        .remote = request.remote,
        .request_id = request_id,
        .action = std::string(action),
        .target = target.empty() ? request.path : target,
        .workflow = workflow,
    };
}

AuditEntry refusal_of(AuditEntry entry, bool is_allowed, const std::exception& error) {
    const Problem problem = to_problem(error);
    const int status = problem_kind(problem.code()).status;
    entry.outcome = is_allowed ? "failed" : "refused";
    entry.detail = nlohmann::ordered_json{{"status", status}, {"code", problem.code()}}.dump();
    return entry;
}

http::Response json_response(int status, std::string json) {
    http::Response response{.status = status, .headers = {}, .body = std::move(json)};
    response.set("Content-Type", "application/json");
    response.set("Cache-Control", "no-cache");
    return response;
}

http::Response json_response(int status, const nlohmann::ordered_json& json) {
    return json_response(status, view::json_text(json));
}

std::string etag_of(std::int64_t revision) {
    return fmt::format("\"{}\"", revision);
}

bool matches(const Call& call, std::string_view etag) {
    std::string_view tags = call.request.header("If-None-Match");
    while (!tags.empty()) {
        const std::size_t comma = std::min(tags.find(','), tags.size());
        std::string_view tag = tags.substr(0, comma);
        while (!tag.empty() && tag.front() == ' ') tag.remove_prefix(1);
        while (!tag.empty() && tag.back() == ' ') tag.remove_suffix(1);
        if (tag.starts_with("W/")) tag.remove_prefix(2);
        if (tag == etag || tag == "*") return true;
        tags.remove_prefix(std::min(comma + 1, tags.size()));
    }
    return false;
}

http::Response not_modified(std::string etag) {
    http::Response response{.status = 304};
    response.set("ETag", std::move(etag));
    return response;
}

bool wants_page(const http::Request& request) {
    return request.header("Accept").find("text/html") != std::string_view::npos;
}

std::string negotiate(const http::Request& request, const std::vector<std::string>& offered) {
    std::string_view ranges = request.header("Accept");
    if (ranges.empty()) return offered.front();
    while (!ranges.empty()) {
        const std::size_t comma = std::min(ranges.find(','), ranges.size());
        for (const std::string& type : offered) {
            if (accepts(ranges.substr(0, comma), type)) return type;
        }
        ranges.remove_prefix(std::min(comma + 1, ranges.size()));
    }
    throw Problem(
        "not_acceptable", fmt::format("This can be had as {}.", fmt::join(offered, ", "))
    );
}

bool is_own(const Principal& principal, const InstanceRow& row) {
    if (!principal.has_own()) return false;
    const Labels labels = labels_of_state(row.state);
    const auto label = labels.find(kOwnerLabel);
    return label != labels.end() && label->second == LabelValue(principal.owner());
}

bool may_see(const Principal& principal, const InstanceRow& row) {
    return principal.may_with(kSee, row.workflow) ||
           (principal.may_with_own(kSee, row.workflow) && is_own(principal, row));
}

Labels owner_labels(const Principal& principal, const std::string& workflow, const Labels& given) {
    constexpr std::string_view kReserved = "ebb.";
    for (const auto& [name, value] : given) {
        if (!name.starts_with(kReserved)) continue;
        throw Problem(
            "invalid_argument",
            fmt::format(
                "The label \"{}\" cannot be set: names that begin with ebb. are Ebb's own.", name
            )
        );
    }
    if (principal.may_with(kSee, workflow) || !principal.may_with_own(kSee, workflow)) return {};
    return {{std::string(kOwnerLabel), principal.owner()}};
}

InstanceId resolve(Service& service, const Principal& principal, std::string_view reference) {
    const InstanceId id = find(service, principal, reference);
    if (principal.may_everywhere(kSee)) return id;
    auto row = service.reads.load(id);
    if (!row) row = service.store.load(id);
    if (row && may_see(principal, *row)) return id;
    throw_invisible(reference, id);
}

InstanceId resolve(Service& service, const Call& call) {
    if (call.instance) return *call.instance;
    return resolve(service, call.principal, call.parameter("id"));
}

void check_instance(Service& service, Call& call) {
    const Principal& principal = call.principal;
    const InstanceId id = find(service, principal, call.parameter("id"));
    call.instance = id;
    // An act is recorded with the workflow; a principal that may read everything needs no look.
    const bool is_read = call.request.method == "GET" || call.request.method == "HEAD";
    const bool is_free =
        principal.may_everywhere(kSee) && principal.may_everywhere(call.permission);
    if (is_read && is_free) return;
    const auto row = service.reads.load(id);
    // A start may be newer than what a replica has.
    const auto now = row ? row : service.store.load(id);
    if (!now || !may_see(principal, *now)) throw_invisible(call.parameter("id"), id);
    call.workflow = now->workflow;
    call.is_own = is_own(principal, *now);
    if (principal.may_with(call.permission, now->workflow)) return;
    if (call.is_own && principal.may_with_own(call.permission, now->workflow)) return;
    throw_not_allowed(principal, call.permission, now->workflow);
}

void check_workflow(const Call& call, const std::string& workflow) {
    if (call.principal.may_with(call.permission, workflow)) return;
    if (!call.principal.may_with("workflows.read", workflow)) {
        throw Problem("workflow_not_found", fmt::format("There is no workflow \"{}\".", workflow));
    }
    throw_not_allowed(call.principal, call.permission, workflow);
}

bool may_also(Service& service, const Call& call, Permission permission) {
    if (call.principal.may_everywhere(permission)) return true;
    if (!call.principal.may(permission)) return false;
    if (call.is_own && call.principal.may_with_own(permission, call.workflow)) return true;
    if (!call.workflow.empty()) return call.principal.may_with(permission, call.workflow);
    const auto row = call.instance ? service.reads.load(*call.instance) : std::nullopt;
    return row && call.principal.may_with(permission, row->workflow);
}

namespace {

/// Those of `wanted`, or of all if it is empty, that pass.
template <class Passes>
std::set<std::string> workflows_that(Service& service, const std::string& wanted, Passes passes) {
    std::set<std::string> names;
    if (wanted.empty()) {
        for (WorkflowRow& row : service.reads.list_workflows()) names.insert(std::move(row.name));
    } else {
        for (std::string& name : split_names(wanted)) names.insert(std::move(name));
    }
    std::erase_if(names, [&](const std::string& name) { return !passes(name); });
    return names;
}

}  // namespace

std::optional<std::string> workflows_of_project(
    Service& service, const std::optional<std::string>& project, const std::string& wanted
) {
    if (!project || *project == kEverything) return wanted;
    const Grant of_project = service.access.book().resolved({.project = *project});
    const auto names = workflows_that(service, wanted, [&](const std::string& name) {
        return of_project.has_workflow(name);
    });
    if (names.empty()) return std::nullopt;
    return fmt::format("{}", fmt::join(names, ","));
}

std::optional<VisibleInstances> visible_instances(
    Service& service, const Principal& principal, const std::string& wanted
) {
    using filter::Condition;
    if (!principal.has_own()) {
        const auto names = visible_workflows(service, principal, kSee, wanted);
        if (!names) return std::nullopt;
        return VisibleInstances{.workflows = *names};
    }
    Condition own{
        .kind = Condition::Kind::Compare,
        .field = {.kind = filter::Field::Kind::Label, .label = std::string(kOwnerLabel)}
    };
    own.operand = principal.owner();
    const auto names = workflows_that(service, wanted, [&](const std::string& name) {
        return principal.may_with_own(kSee, name);
    });
    if (names.empty()) return std::nullopt;
    Condition any{.kind = Condition::Kind::Or, .parts = {own}};
    for (const std::string& name : names) {
        if (!principal.may_with(kSee, name)) continue;
        Condition all_of{
            .kind = Condition::Kind::Compare, .field = {.kind = filter::Field::Kind::Workflow}
        };
        all_of.operand = name;
        any.parts.push_back(std::move(all_of));
    }
    return VisibleInstances{
        .workflows = fmt::format("{}", fmt::join(names, ",")),
        .own = any.parts.size() == 1 ? std::move(own) : std::move(any),
    };
}

std::optional<std::string> visible_workflows(
    Service& service, const Principal& principal, Permission permission, const std::string& wanted
) {
    if (principal.may_everywhere(permission)) return wanted;
    const auto names = workflows_that(service, wanted, [&](const std::string& name) {
        return principal.may_with(permission, name);
    });
    if (names.empty()) return std::nullopt;
    return fmt::format("{}", fmt::join(names, ","));
}

void check_permission(const Principal& principal, Permission permission, Reach reach) {
    const bool is_here = reach == Reach::Project;
    if (is_here ? principal.may(permission) : principal.may_everywhere(permission)) {
        return;
    }
    if (principal.may(permission)) {
        throw Problem(
            "not_allowed",
            fmt::format(
                "{} has the permission {} in some projects; this needs it for everything.",
                principal.name,
                permission
            )
        );
    }
    throw Problem(
        "not_allowed",
        principal.grants.empty() ? fmt::format("{} has no grant.", principal.name)
                                 : fmt::format(
                                       "{} has the role {}, which lacks the permission {}.",
                                       principal.name,
                                       to_string(principal.role()),
                                       permission
                                   )
    );
}

}  // namespace ebb::server
