#include "server/auth/oidc/claims.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/auth/secret.h"
#include "support/json.h"

namespace ebb::server::oidc {

namespace {

constexpr std::size_t kSubjectBytesMax = 255;  // OpenID Connect Core 1.0, 2

std::string text_of(const Json& claims, const char* name) {
    const auto found = claims.find(name);
    if (found == claims.end()) return {};
    if (!found->is_string()) refuse(fmt::format("The claim \"{}\" is not a text.", name));
    return found->get<std::string>();
}

/// Seconds since 1970. A double has room for every date, and cannot overflow.
std::optional<double> seconds_of(const Json& claims, const char* name) {
    const auto found = claims.find(name);
    if (found == claims.end()) return std::nullopt;
    if (!found->is_number()) refuse(fmt::format("The claim \"{}\" is not a number.", name));
    return found->get<double>();
}

double required_seconds(const Json& claims, const char* name) {
    const auto seconds = seconds_of(claims, name);
    if (!seconds) refuse(fmt::format("The token has no claim \"{}\".", name));
    return *seconds;
}

double seconds_of(TimePoint time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// Each is a text.
std::vector<std::string> audiences(const Json& claims) {
    const auto found = claims.find("aud");
    if (found == claims.end()) return {};
    if (found->is_string()) return {found->get<std::string>()};
    if (!found->is_array()) refuse("The claim \"aud\" is neither a text nor a list of texts.");
    std::vector<std::string> all;
    for (const Json& one : *found) {
        if (!one.is_string()) refuse("The claim \"aud\" is neither a text nor a list of texts.");
        all.push_back(one.get<std::string>());
    }
    return all;
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

void check_issuer(const Json& claims, const std::string& issuer) {
    if (text_of(claims, "iss") == issuer) return;
    refuse(fmt::format("The issuer of the token (\"iss\") is not {}.", issuer));
}

void check_times(const Json& claims, TimePoint now) {
    const double present = seconds_of(now);
    const double skew = std::chrono::duration<double>(kSkew).count();
    // Written so that a value that is not a number is refused.
    if (!(present < required_seconds(claims, "exp") + skew)) {
        refuse("The token has expired (\"exp\").");
    }
    if (const auto begin = seconds_of(claims, "nbf"); begin && !(*begin <= present + skew)) {
        refuse("The token is not valid yet (\"nbf\").");
    }
    if (const auto issued = seconds_of(claims, "iat"); issued && !(*issued <= present + skew)) {
        refuse("The token was issued in the future (\"iat\").");
    }
}

std::string subject_of(const Json& claims) {
    std::string subject = text_of(claims, "sub");
    const bool is_subject = !subject.empty() && subject.size() <= kSubjectBytesMax &&
                            std::none_of(subject.begin(), subject.end(), [](char c) {
                                return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                            });
    if (is_subject) return subject;
    refuse(fmt::format(
        "The claim \"sub\" does not have 1 to {} bytes without control characters.",
        kSubjectBytesMax
    ));
}

/// Null if the token has none.
const Json* groups_claim(const Json& claims, const std::string& name) {
    if (!name.starts_with('/')) {
        const auto found = claims.find(name);
        return found == claims.end() ? nullptr : &*found;
    }
    const Json::json_pointer pointer(name);
    return claims.contains(pointer) ? &claims.at(pointer) : nullptr;
}

std::vector<std::string> groups_of(const Json& claims, const std::string& name) {
    const Json* claim = groups_claim(claims, name);
    if (claim == nullptr || claim->is_null()) return {};
    if (claim->is_string()) return {claim->get<std::string>()};
    if (!claim->is_array()) refuse(fmt::format("The claim \"{}\" is not a list of texts.", name));
    if (claim->size() > kGroupsMax) {
        refuse(fmt::format("The claim \"{}\" has more than {} groups.", name, kGroupsMax));
    }
    std::vector<std::string> groups;
    for (const Json& group : *claim) {
        if (!group.is_string()) {
            refuse(fmt::format("The claim \"{}\" is not a list of texts.", name));
        }
        groups.push_back(group.get<std::string>());
    }
    return groups;
}

}  // namespace

void check_id_token(const Json& claims, const IdTokenRules& rules) {
    check_issuer(claims, rules.issuer);
    const auto all = audiences(claims);
    if (!has(all, rules.client_id)) refuse("The token is for another client (\"aud\").");
    const std::string party = text_of(claims, "azp");
    if (party.empty() && all.size() > 1) {
        refuse("The token has several audiences and does not say for whom it was made (\"azp\").");
    }
    if (!party.empty() && party != rules.client_id) {
        refuse("The token was made for another client (\"azp\").");
    }
    check_times(claims, rules.now);
    const double skew = std::chrono::duration<double>(kSkew).count();
    if (!(required_seconds(claims, "iat") + skew >= seconds_of(rules.begun_at))) {
        refuse("The token is older than this login (\"iat\").");
    }
    if (!is_equal_secret(text_of(claims, "nonce"), rules.nonce)) {
        refuse("The token belongs to another login (\"nonce\").");
    }
    subject_of(claims);
}

void check_access_token(const Json& claims, const AccessTokenRules& rules) {
    check_issuer(claims, rules.issuer);
    if (!has(audiences(claims), rules.audience)) {
        refuse("The token is for another service (\"aud\").");
    }
    check_times(claims, rules.now);
    if (claims.contains("nonce")) refuse("An ID token is not an access token (\"nonce\").");
    subject_of(claims);
}

TimePoint end_of_token(const Json& claims) {
    // The year 5138: what is beyond it does not fit into a time.
    constexpr double kSecondsMax = 1e11;
    const double seconds = std::clamp(required_seconds(claims, "exp"), 0.0, kSecondsMax);
    return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

Person person_of(const Json& claims, const OidcLogin& settings) {
    Person person{.name = subject_of(claims) + "@" + settings.issuer, .groups = {}};
    constexpr std::size_t kKindBytes = std::string_view("user:").size();
    if (person.name.size() + kKindBytes > GrantBook::kSubjectBytesMax) {
        refuse(fmt::format(
            "The claim \"sub\" and the issuer have more than {} bytes together.",
            GrantBook::kSubjectBytesMax - kKindBytes
        ));
    }
    person.email = clean_text(text_of(claims, "email"), kDisplayNameBytesMax);
    for (const char* name : {"name", "preferred_username", "email"}) {
        if (!person.display_name.empty()) break;
        person.display_name = clean_text(text_of(claims, name), kDisplayNameBytesMax);
    }
    person.groups = groups_of(claims, settings.groups_claim);
    return person;
}

}  // namespace ebb::server::oidc
