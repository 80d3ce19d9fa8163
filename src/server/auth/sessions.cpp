// Sessions of people: what a login begins, and what it ends with.

#include <algorithm>

#include <fmt/format.h>

#include "server/auth/access.h"
#include "server/auth/secret.h"
#include "support/clock.h"
#include "support/json.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kLogin = "login";
constexpr std::string_view kSession = "session";
/// Of a session's id: the first digits of what is kept of its secret.
constexpr std::size_t kIdSize = 16;

std::string text_of(const ordered_json& document, const char* name) {
    const auto found = document.find(name);
    return found == document.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::string name_of(const ordered_json& document) {
    return "user:" + document.at("name").get<std::string>();
}

Principal session_principal(const ordered_json& document) {
    Principal principal{.kind = Principal::Kind::Session, .name = name_of(document)};
    principal.display_name = text_of(document, "display_name");
    principal.groups = document.value("groups", std::vector<std::string>());
    return principal;
}

TimePoint seen_at(const ordered_json& document, TimePoint otherwise) {
    return parse_time(document.at("seen_at").get<std::string>()).value_or(otherwise);
}

bool is_over(const AdminRow& row, const ordered_json& document, TimePoint now) {
    return row.expires_at <= now || now - seen_at(document, now) > Access::kSessionIdle;
}

ordered_json session_json(const AdminRow& row, const ordered_json& document) {
    // Those of an earlier version do not say where they come from.
    const std::string method = text_of(document, "method");
    return {
        {"id", row.name.substr(0, kIdSize)},
        {"principal", name_of(document)},
        {"display_name", view::text_json(text_of(document, "display_name"))},
        {"email", view::text_json(text_of(document, "email"))},
        {"method", method.empty() ? "link" : method},
        {"groups", document.value("groups", std::vector<std::string>())},
        {"created_at", document.at("created_at")},
        {"seen_at", document.at("seen_at")},
        {"expires_at", view::time_json(row.expires_at)},
        {"address", view::text_json(text_of(document, "address"))},
        {"agent", view::text_json(text_of(document, "agent"))},
    };
}

}  // namespace

std::optional<Principal> Access::by_session(std::string_view secret) {
    return find(fmt::format("{} {}", kSession, hash_secret(secret)));
}

std::optional<Principal> Access::find_session(const std::string& hash, TimePoint now) {
    const auto row = store_.find(kSession, hash);
    if (!row) return std::nullopt;
    auto document = ordered_json::parse(row->document);
    if (is_over(*row, document, now)) return std::nullopt;
    if (now - seen_at(document, now) > kSeenEvery) {
        document["seen_at"] = format_time(now);
        AdminRow changed = *row;
        changed.document = document.dump();
        store_.change(changed);
    }
    Principal principal = with_grants(session_principal(document), document);
    principal.expires_at = row->expires_at;
    principal.credential = row->name;
    return principal;
}

Access::Login Access::open_session(ordered_json document, const Visitor& visitor) {
    const TimePoint now = clock_.now();
    document["created_at"] = format_time(now);
    document["seen_at"] = format_time(now);
    document["address"] = visitor.address;
    document["agent"] = clean_text(visitor.agent, kAgentBytesMax);
    Login login{make_secret(), with_grants(session_principal(document), document)};
    login.principal.expires_at = now + kSessionLife;
    login.principal.credential = hash_secret(login.secret);
    store_.add(
        {std::string(kSession),
         login.principal.credential,
         document.dump(),
         login.principal.expires_at}
    );
    return login;
}

std::optional<Access::Login> Access::log_in(std::string_view secret, const Visitor& visitor) {
    const std::string hash = hash_secret(secret);
    const auto link = store_.find(kLogin, hash);
    // Only the request that removes the entry may use it.
    if (!link || !store_.remove(kLogin, hash) || link->expires_at <= clock_.now()) {
        return std::nullopt;
    }
    auto document = ordered_json::parse(link->document);
    document["method"] = "link";
    return open_session(std::move(document), visitor);
}

Access::Login Access::log_in(
    const Person& person, const Visitor& visitor, const std::string& logout_url
) {
    store_.remove_expired(clock_.now());
    return open_session(
        {{"name", person.name},
         {"display_name", person.display_name},
         {"email", person.email},
         {"groups", person.groups},
         {"method", "oidc"},
         {"logout_url", logout_url}},
        visitor
    );
}

std::string Access::log_out(const Principal& principal) {
    if (principal.kind != Principal::Kind::Session) return {};
    const auto row = store_.find(kSession, principal.credential);
    store_.remove(kSession, principal.credential);
    forget_all();
    return row ? text_of(ordered_json::parse(row->document), "logout_url") : "";
}

std::vector<ordered_json> Access::sessions(std::string_view of, const Principal& caller) {
    const TimePoint now = clock_.now();
    std::vector<ordered_json> sessions;
    for (const AdminRow& row : store_.list(kSession)) {
        const auto document = ordered_json::parse(row.document);
        if (is_over(row, document, now) || (!of.empty() && name_of(document) != of)) continue;
        sessions.push_back(session_json(row, document));
        sessions.back()["is_current"] = row.name == caller.credential;
    }
    std::stable_sort(sessions.begin(), sessions.end(), [](const auto& left, const auto& right) {
        return left.at("created_at") > right.at("created_at");
    });
    return sessions;
}

bool Access::end_session(std::string_view id, std::string_view of) {
    if (id.size() != kIdSize) return false;
    for (const AdminRow& row : store_.list(kSession)) {
        if (!row.name.starts_with(id)) continue;
        const auto document = ordered_json::parse(row.document);
        if (!of.empty() && name_of(document) != of) return false;
        const bool was_there = !is_over(row, document, clock_.now());
        store_.remove(kSession, row.name);
        forget_all();
        return was_there;
    }
    return false;
}

}  // namespace ebb::server
