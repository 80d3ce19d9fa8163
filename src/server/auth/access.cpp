#include "server/auth/access.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/auth/secret.h"
#include "support/clock.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kToken = "token";
constexpr std::string_view kLogin = "login";
/// The size of the cache. When it is full, it is emptied and read again.
constexpr std::size_t kRememberedMax = 10'000;

ordered_json document_of(const NewCredential& credential, TimePoint now, TimePoint expires_at) {
    return {
        {"name", credential.name},
        {"role", to_string(credential.role)},
        {"project", credential.project},
        {"act_as", credential.may_act_as},
        {"decision_roles", credential.decision_roles},
        {"handlers", credential.handlers},
        {"queues", credential.queues},
        {"created_at", format_time(now)},
        {"created_by", view::text_json(credential.by)},
        {"expires_at", view::time_json(expires_at)},
    };
}

Principal token_principal(const ordered_json& document) {
    return {
        .kind = Principal::Kind::Token,
        .name = "token:" + document.at("name").get<std::string>(),
    };
}

/// The one that a credential has itself; none if its person has only those of groups.
std::optional<Grant> own_grant(const ordered_json& document) {
    const auto role = parse_role(document.value("role", std::string()));
    if (!role) return std::nullopt;
    const auto texts = [&](const char* name) {
        return document.value(name, std::vector<std::string>());
    };
    Grant grant{.role = *role};
    // What was made before there were projects has none.
    grant.project = document.value("project", std::string(kEverything));
    grant.decision_roles = texts("decision_roles");
    grant.handlers = texts("handlers");
    grant.queues = texts("queues");
    grant.may_act_as = document.value("act_as", false);
    return grant;
}

TimePoint end_of(TimePoint now, Duration life) {
    return life == Duration::zero() ? kNever : now + life;
}

}  // namespace

std::optional<Principal> Access::find(const std::string& key) {
    const TimePoint now = clock_.now();
    {
        const Lock lock(mutex_);
        const auto found = remembered_.find(key);
        if (found != remembered_.end() && now < found->second.until) {
            return found->second.principal;
        }
    }
    const std::string hash = key.substr(key.find(' ') + 1);
    std::optional<Principal> principal =
        key.starts_with(kToken) ? find_token(hash, now) : find_session(hash, now);
    if (principal) principal->key = key;
    const Lock lock(mutex_);
    if (remembered_.size() >= kRememberedMax) remembered_.clear();
    const TimePoint end = principal ? principal->expires_at : kNever;
    remembered_[key] = {principal, std::min(now + kRemembered, end)};
    return principal;
}

std::optional<Principal> Access::current(const Principal& principal) {
    if (principal.key.empty()) {
        // Its login comes with every request.
        if (principal.expires_at <= clock_.now()) return std::nullopt;
        Principal now = principal;
        if (now.kind != Principal::Kind::Anonymous) now.grants = book_.of(now.name, now.groups);
        return now;
    }
    return find(principal.key);
}

Principal Access::with_grants(Principal principal, const ordered_json& document) {
    if (auto own = own_grant(document)) {
        own->subject = principal.name;
        principal.grants.push_back(book_.resolved(std::move(*own)));
    }
    for (Grant& grant : book_.of(principal.name, principal.groups)) {
        principal.grants.push_back(std::move(grant));
    }
    return principal;
}

void Access::forget_all() {
    const Lock lock(mutex_);
    remembered_.clear();
    book_.forget();
}

std::optional<Principal> Access::by_token(std::string_view token) {
    if (!token_id(token)) return std::nullopt;
    return find(fmt::format("{} {}", kToken, hash_secret(token)));
}

std::optional<Principal> Access::find_token(const std::string& hash, TimePoint now) {
    for (const AdminRow& row : store_.list(kToken)) {
        const auto document = ordered_json::parse(row.document);
        if (!is_equal_secret(document.at("hash").get<std::string>(), hash)) continue;
        if (row.expires_at <= now) return std::nullopt;
        Principal principal = with_grants(token_principal(document), document);
        principal.expires_at = row.expires_at;
        principal.credential = row.name;
        ordered_json used = document;
        used["last_used_at"] = format_time(now);
        const auto last = parse_time(document.value("last_used_at", std::string()));
        // Not at every request: the time is only for people who clean up.
        if (!last || now - *last > std::chrono::minutes(1)) {
            AdminRow changed = row;
            changed.document = used.dump();
            store_.change(changed);
        }
        return principal;
    }
    return std::nullopt;
}

Principal Access::by_proxy(const Person& person) {
    Principal principal{.kind = Principal::Kind::Proxy, .name = "user:" + person.name};
    principal.display_name = person.display_name;
    principal.groups = person.groups;
    principal.grants = book_.of(principal.name, principal.groups);
    return principal;
}

Principal Access::by_certificate(const std::string& name, TimePoint expires_at) {
    Principal principal{.kind = Principal::Kind::Certificate, .name = "cert:" + name};
    principal.grants = book_.of(principal.name, {});
    principal.expires_at = expires_at;
    return principal;
}

Principal Access::by_oidc(const Person& person, TimePoint expires_at) {
    Principal principal = by_proxy(person);
    principal.kind = Principal::Kind::Oidc;
    principal.expires_at = expires_at;
    return principal;
}

std::optional<Access::CreatedToken> Access::create_token(const NewCredential& credential) {
    book_.forget();
    book_.check_role(credential.role, credential.project);
    const TimePoint now = clock_.now();
    const TimePoint expires_at = end_of(now, credential.life);
    const TokenText token = make_token();
    ordered_json document = document_of(credential, now, expires_at);
    document["id"] = token.id;
    document["hash"] = hash_secret(token.whole);
    const AdminRow row{std::string(kToken), credential.name, document.dump(), expires_at};
    if (!store_.add(row)) return std::nullopt;
    forget_all();
    document.erase("hash");
    document["principal"] = "token:" + credential.name;
    document["last_used_at"] = nullptr;
    return CreatedToken{std::move(document), token.whole};
}

std::vector<ordered_json> Access::tokens() {
    std::vector<ordered_json> tokens;
    for (const AdminRow& row : store_.list(kToken)) {
        auto document = ordered_json::parse(row.document);
        document.erase("hash");
        document["principal"] = "token:" + row.name;
        if (!document.contains("last_used_at")) document["last_used_at"] = nullptr;
        tokens.push_back(std::move(document));
    }
    return tokens;
}

void Access::revoke_token(std::string_view name) {
    store_.remove(kToken, name);
    forget_all();
}

std::string Access::create_login(const NewCredential& person) {
    const TimePoint now = clock_.now();
    store_.remove_expired(now);
    std::string secret = make_secret();
    store_.add(
        {std::string(kLogin),
         hash_secret(secret),
         document_of(person, now, now + kLoginLife).dump(),
         now + kLoginLife}
    );
    return secret;
}

}  // namespace ebb::server
