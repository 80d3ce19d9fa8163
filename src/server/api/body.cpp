#include "server/api/body.h"

#include <fmt/format.h>

#include "server/api/problem.h"
#include "support/closest.h"
#include "support/json.h"
#include "support/json_cure.h"
#include "support/json_reader.h"

namespace ebb::server {

namespace {

/// Deeper than a payload may be nested by itself.
constexpr int kDepthMax = 66;

}  // namespace

Body::Body(std::string_view text, std::string where) : where_(std::move(where)) {
    if (text.empty()) return;
    try {
        JsonReader reader(text, kDepthMax);
        if (reader.peek() != '{') throw Problem("invalid_json", "The body is not a JSON object.");
        reader.object([&](std::string_view key) {
            const std::string name(key);
            if (!members_.emplace(name, Member{std::string(reader.raw())}).second) {
                throw Problem(
                    "invalid_json", fmt::format("The member \"{}{}\" is there twice.", where_, name)
                );
            }
        });
        reader.end();
    } catch (const JsonSyntaxError& error) {
        throw Problem(
            "invalid_json",
            fmt::format(
                "The body is not valid JSON: {}.{}", error.what(), json_cure(text, error.at())
            )
        );
    }
}

Body::Member* Body::find(std::string_view name) {
    asked_.emplace_back(name);
    const auto found = members_.find(name);
    if (found == members_.end()) return nullptr;
    found->second.is_used = true;
    return &found->second;
}

void Body::refuse(std::string_view name, const std::string& why) const {
    throw Problem("invalid_argument", fmt::format("The member \"{}{}\" {}.", where_, name, why))
        .with("member", where_ + std::string(name));
}

bool Body::has(std::string_view name) {
    return find(name) != nullptr;
}

std::vector<std::string> Body::names() const {
    std::vector<std::string> names;
    for (const auto& [name, member] : members_) names.push_back(name);
    return names;
}

std::optional<std::string> Body::text(std::string_view name, std::size_t bytes_max) {
    const Member* member = find(name);
    if (member == nullptr) return std::nullopt;
    if (member->json.front() != '"') refuse(name, "is not a string");
    std::string text = JsonReader(member->json).string();
    if (text.size() > bytes_max) {
        refuse(name, fmt::format("has more than {} bytes", bytes_max));
    }
    if (text.find('\0') != std::string::npos) refuse(name, "has a zero character");
    return text;
}

std::string Body::required_text(std::string_view name, std::size_t bytes_max) {
    auto value = text(name, bytes_max);
    if (!value) refuse(name, "is missing");
    if (value->empty()) refuse(name, "is empty");
    return std::move(*value);
}

std::optional<std::int64_t> Body::integer(
    std::string_view name, std::int64_t least, std::int64_t most
) {
    const Member* member = find(name);
    if (member == nullptr || member->json == "null") return std::nullopt;
    try {
        const std::int64_t number = JsonReader(member->json).integer();
        if (number >= least && number <= most) return number;
    } catch (const JsonSyntaxError&) {
        // Said below.
    }
    refuse(name, fmt::format("is not a whole number from {} to {}", least, most));
}

bool Body::boolean(std::string_view name, bool otherwise) {
    const Member* member = find(name);
    if (member == nullptr) return otherwise;
    if (member->json == "true") return true;
    if (member->json == "false") return false;
    refuse(name, "is not true or false");
}

std::vector<std::string> Body::texts(std::string_view name, std::size_t count_max) {
    std::vector<std::string> texts;
    const Member* member = find(name);
    if (member == nullptr) return texts;
    if (member->json.front() != '[') refuse(name, "is not a list of strings");
    try {
        JsonReader reader(member->json);
        reader.array([&] { texts.push_back(reader.string()); });
    } catch (const JsonSyntaxError&) {
        refuse(name, "is not a list of strings");
    }
    if (texts.size() > count_max) refuse(name, fmt::format("has more than {} items", count_max));
    return texts;
}

std::optional<Payload> Body::payload(std::string_view name) {
    Member* member = find(name);
    if (member == nullptr) return std::nullopt;
    return member->json;
}

std::optional<Body> Body::object(std::string_view name) {
    const Member* member = find(name);
    if (member == nullptr || member->json == "null") return std::nullopt;
    if (member->json.front() != '{') refuse(name, "is not an object");
    return Body(member->json, where_ + std::string(name) + ".");
}

void Body::check_all_used() const {
    for (const auto& [name, member] : members_) {
        if (member.is_used) continue;
        const std::vector<std::string_view> known(asked_.begin(), asked_.end());
        const std::string_view meant = closest(name, known);
        throw Problem(
            "unknown_field",
            fmt::format(
                "The member \"{}{}\" is not known here.{} Known are: {}.",
                where_,
                clean_text(name, 64),
                meant.empty() ? "" : fmt::format(" Did you mean \"{}\"?", meant),
                fmt::join(asked_, ", ")
            )
        );
    }
}

}  // namespace ebb::server
