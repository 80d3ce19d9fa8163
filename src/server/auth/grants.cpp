#include "server/auth/grants.h"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include <ebb/error.h>

#include "support/clock.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using nlohmann::ordered_json;
using Texts = std::vector<std::string>;

constexpr std::string_view kProject = "project";
constexpr std::string_view kGrant = "grant";

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

bool fits_any(const Texts& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return fits_pattern(pattern, name);
    });
}

void check_name(const char* what, const std::string& name) {
    const bool is_name = !name.empty() && name.size() <= GrantBook::kNameBytesMax &&
                         std::all_of(name.begin(), name.end(), [](char c) {
                             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                    (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
                         });
    if (is_name) return;
    refuse(fmt::format(
        "{} has 1 to {} letters, digits, _, - and . only.", what, GrantBook::kNameBytesMax
    ));
}

/// Printable, without spaces and commas.
void check_words(const char* member, const Texts& words) {
    if (words.size() > GrantBook::kPatternsMax) {
        refuse(fmt::format(
            "The member \"{}\" has more than {} items.", member, GrantBook::kPatternsMax
        ));
    }
    for (const std::string& word : words) {
        const bool is_word =
            !word.empty() && word.size() <= GrantBook::kPatternBytesMax &&
            std::none_of(word.begin(), word.end(), [](char c) {
                return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == ',';
            });
        if (is_word) continue;
        refuse(fmt::format(
            "An item of \"{}\" has 1 to {} bytes, and neither spaces nor commas.",
            member,
            GrantBook::kPatternBytesMax
        ));
    }
}

void check_subject(const std::string& subject) {
    const std::size_t colon = subject.find(':');
    const std::string_view kind = std::string_view(subject).substr(0, colon);
    const bool is_kind = kind == "token" || kind == "user" || kind == "group" || kind == "cert";
    const bool is_subject = is_kind && colon + 1 < subject.size() &&
                            subject.size() <= GrantBook::kSubjectBytesMax &&
                            std::none_of(subject.begin(), subject.end(), [](char c) {
                                return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                            });
    if (is_subject) return;
    refuse(fmt::format(
        "A subject is token:NAME, user:NAME, group:NAME or cert:NAME, with at most {} bytes.",
        GrantBook::kSubjectBytesMax
    ));
}

Project project_of(const ordered_json& document) {
    const ordered_json& title = document.at("title");
    return {
        .name = document.at("name").get<std::string>(),
        .title = title.is_null() ? std::string() : title.get<std::string>(),
        .workflows = document.at("workflows").get<Texts>(),
        .queues = document.at("queues").get<Texts>(),
    };
}

/// Empty: this version does not know the role, so the grant gives nothing.
std::optional<Grant> grant_of(const ordered_json& document) {
    const auto role = parse_role(document.at("role").get<std::string>());
    if (!role) return std::nullopt;
    return Grant{
        .id = document.at("id").get<std::string>(),
        .subject = document.at("subject").get<std::string>(),
        .role = *role,
        .project = document.at("project").get<std::string>(),
        .decision_roles = document.at("decision_roles").get<Texts>(),
        .handlers = document.at("handlers").get<Texts>(),
        .queues = document.at("queues").get<Texts>(),
        .may_act_as = document.value("act_as", false),
    };
}

Project everything() {
    const Texts all{std::string(kEverything)};
    return {.name = std::string(kEverything), .workflows = all, .queues = all};
}

ordered_json project_json(const Project& project) {
    return {
        {"name", project.name},
        {"title", view::text_json(project.title)},
        {"workflows", project.workflows},
        {"queues", project.queues},
        {"is_built_in", project.name == kEverything},
    };
}

}  // namespace

bool fits_pattern(const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

bool Grant::has(Permission permission) const {
    return has_permission(role, permission) || (may_act_as && permission == "act_as");
}

bool Grant::is_limited_to_own(Permission permission) const {
    return role == Role::Starter && permission != "instances.start" &&
           permission != "workflows.read";
}

bool Grant::has_workflow(const std::string& workflow) const {
    return is_everywhere() || fits_any(workflows, workflow);
}

bool Grant::has_queue(const std::string& queue) const {
    return is_everywhere() || fits_any(project_queues, queue);
}

GrantBook::Pages GrantBook::read() {
    const TimePoint now = clock_.now();
    {
        const Lock lock(mutex_);
        if (pages_ && now < pages_->until) return *pages_;
    }
    Pages pages{.projects = {everything()}, .grants = {}, .until = now + kRemembered};
    for (const AdminRow& row : store_.list(kProject)) {
        pages.projects.push_back(project_of(ordered_json::parse(row.document)));
    }
    for (const AdminRow& row : store_.list(kGrant)) {
        auto grant = grant_of(ordered_json::parse(row.document));
        if (grant) pages.grants.push_back(*std::move(grant));
    }
    const Lock lock(mutex_);
    pages_ = pages;
    return pages;
}

void GrantBook::forget() {
    const Lock lock(mutex_);
    pages_.reset();
}

Grant GrantBook::resolved(Grant grant) {
    if (grant.is_everywhere()) return grant;
    for (const Project& project : read().projects) {
        if (project.name != grant.project) continue;
        grant.workflows = project.workflows;
        grant.project_queues = project.queues;
    }
    return grant;
}

std::vector<Grant> GrantBook::of(std::string_view principal, const Texts& groups) {
    std::vector<Grant> found;
    for (const Grant& grant : read().grants) {
        const bool is_group = std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
            return grant.subject == "group:" + group;
        });
        if (grant.subject == principal || is_group) found.push_back(resolved(grant));
    }
    return found;
}

void GrantBook::check_role(Role role, const std::string& project) {
    if (project == kEverything) return;
    const Pages pages = read();
    const bool is_known =
        std::any_of(pages.projects.begin(), pages.projects.end(), [&](const Project& known) {
            return known.name == project;
        });
    if (!is_known) refuse(fmt::format("There is no project \"{}\".", project));
    if (role == Role::Worker) {
        refuse("A worker is limited by handlers and queues, not by a project: leave it out.");
    }
}

std::vector<ordered_json> GrantBook::projects() {
    std::vector<ordered_json> projects{project_json(everything())};
    for (const AdminRow& row : store_.list(kProject)) {
        projects.push_back(ordered_json::parse(row.document));
    }
    return projects;
}

std::vector<ordered_json> GrantBook::grants() {
    std::vector<ordered_json> grants;
    for (const AdminRow& row : store_.list(kGrant)) {
        grants.push_back(ordered_json::parse(row.document));
    }
    return grants;
}

GrantBook::Put GrantBook::put(AdminRow row, ordered_json document, std::size_t most) {
    const auto old = store_.find(row.kind, row.name);
    if (!old && store_.list(row.kind).size() >= most) {
        throw Error(
            ErrorCode::LimitExceeded, fmt::format("There are {} of kind {}.", most, row.kind)
        );
    }
    if (old) {
        const auto before = ordered_json::parse(old->document);
        document["created_at"] = before.at("created_at");
        document["created_by"] = before.at("created_by");
    }
    row.document = document.dump();
    store_.put(row);
    forget();
    return {!old, std::move(document)};
}

GrantBook::Put GrantBook::put_project(const Project& project, const std::string& by) {
    check_name("The name of a project", project.name);
    if (project.workflows.empty()) refuse("The member \"workflows\" names no pattern.");
    check_words("workflows", project.workflows);
    check_words("queues", project.queues);
    if (project.title.size() > kTitleBytesMax) {
        refuse(fmt::format("The member \"title\" has more than {} bytes.", kTitleBytesMax));
    }
    ordered_json document = project_json(project);
    document["created_at"] = format_time(clock_.now());
    document["created_by"] = view::text_json(by);
    return put({std::string(kProject), project.name, {}}, std::move(document), kProjectsMax);
}

bool GrantBook::remove_project(const std::string& name) {
    if (name == kEverything) refuse("The project * is built in.");
    for (const AdminRow& row : store_.list(kGrant)) {
        if (ordered_json::parse(row.document).at("project") != name) continue;
        throw Error(
            ErrorCode::InvalidState,
            fmt::format("The grant {} names the project {}.", row.name, name)
        );
    }
    const bool was_there = store_.remove(kProject, name);
    forget();
    return was_there;
}

GrantBook::Put GrantBook::put_grant(const Grant& grant, const std::string& by) {
    check_name("The id of a grant", grant.id);
    check_subject(grant.subject);
    forget();
    check_role(grant.role, grant.project);
    check_words("decision_roles", grant.decision_roles);
    check_words("handlers", grant.handlers);
    check_words("queues", grant.queues);
    const bool is_limited = !grant.handlers.empty() || !grant.queues.empty();
    if (is_limited && grant.role != Role::Worker) {
        refuse("Only a grant of the role worker has handlers and queues.");
    }
    ordered_json document = {
        {"id", grant.id},
        {"subject", grant.subject},
        {"role", to_string(grant.role)},
        {"project", grant.project},
        {"decision_roles", grant.decision_roles},
        {"handlers", grant.handlers},
        {"queues", grant.queues},
        {"act_as", grant.may_act_as},
        {"created_at", format_time(clock_.now())},
        {"created_by", view::text_json(by)},
    };
    return put({std::string(kGrant), grant.id, {}}, std::move(document), kGrantsMax);
}

bool GrantBook::remove_grant(const std::string& id) {
    const bool was_there = store_.remove(kGrant, id);
    forget();
    return was_there;
}

}  // namespace ebb::server
