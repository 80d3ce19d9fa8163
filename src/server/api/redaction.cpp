#include "server/api/redaction.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "server/auth/grants.h"
#include "support/json_reader.h"

namespace ebb::server {

namespace {

using Segments = std::vector<std::string>;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
    std::string small(text);
    std::transform(small.begin(), small.end(), small.begin(), [](char c) { return lower(c); });
    return small;
}

/// `~1` stands for a slash, and `~0` for a tilde (RFC 6901).
std::string unescape(std::string_view segment) {
    std::string text;
    for (std::size_t at = 0; at < segment.size(); ++at) {
        const bool is_escape = segment[at] == '~' && at + 1 < segment.size();
        text += !is_escape ? segment[at] : segment[++at] == '1' ? '/' : '~';
    }
    return text;
}

}  // namespace

std::vector<std::string> RedactionRules::default_names() {
    return {
        "password",
        "passwd",
        "secret",
        "token",
        "api_key",
        "authorization",
        "cookie",
        "card",
        "cvv",
        "iban",
        "ssn",
    };
}

RedactionRules::Place parse_redacted_place(std::string_view text) {
    const std::size_t colon = text.find(":/");
    if (colon == std::string_view::npos || colon == 0) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("\"{}\" is not WORKFLOW:/POINTER, such as order:/card/number.", text)
        );
    }
    RedactionRules::Place place{.workflow = std::string(text.substr(0, colon)), .segments = {}};
    for (std::string_view rest = text.substr(colon + 2);;) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        place.segments.push_back(unescape(rest.substr(0, slash)));
        if (slash == rest.size()) return place;
        rest.remove_prefix(slash + 1);
    }
}

/// Copies one JSON text without what is sensitive.
class Redaction::Copy {
 public:
    Copy(const Redaction& redaction, std::string_view payload)
        : redaction_(redaction), reader_(payload) {}

    /// Null: there is nothing to hide.
    std::optional<std::string> without(const std::vector<const Segments*>& places) {
        std::vector<Open> open;
        for (const Segments* place : places) open.push_back({place, 0});
        value(open);
        reader_.end();
        if (!has_hidden_) return std::nullopt;
        return std::move(text_);
    }

 private:
    struct Open {
        const Segments* segments;
        std::size_t at;
    };

    /// The pointers that go on with a member or an index; true if one ends there.
    static bool descend(
        const std::vector<Open>& open, std::string_view name, std::vector<Open>& inner
    ) {
        for (const Open& place : open) {
            const std::string& segment = (*place.segments)[place.at];
            if (segment != "*" && segment != name) continue;
            if (place.at + 1 == place.segments->size()) return true;
            inner.push_back({place.segments, place.at + 1});
        }
        return false;
    }

    void value(const std::vector<Open>& open) {
        const char first = reader_.peek();
        if (first == '{') {
            object(open);
        } else if (first == '[') {
            list(open);
        } else {
            text_ += reader_.raw();
        }
    }

    void object(const std::vector<Open>& open) {
        char before = '{';
        reader_.object([&](std::string_view key) {
            text_ += before;
            before = ',';
            text_ += nlohmann::json(key).dump();
            text_ += ':';
            std::vector<Open> inner;
            const bool is_hidden = redaction_.is_name(key) || descend(open, key, inner);
            part(is_hidden, inner);
        });
        text_ += before == '{' ? "{}" : "}";
    }

    void list(const std::vector<Open>& open) {
        char before = '[';
        std::size_t index = 0;
        reader_.array([&] {
            text_ += before;
            before = ',';
            std::vector<Open> inner;
            const bool is_hidden = !open.empty() && descend(open, std::to_string(index), inner);
            ++index;
            part(is_hidden, inner);
        });
        text_ += before == '[' ? "[]" : "]";
    }

    void part(bool is_hidden, const std::vector<Open>& inner) {
        if (!is_hidden) return value(inner);
        reader_.skip();
        text_ += kMark;
        has_hidden_ = true;
    }

    const Redaction& redaction_;
    JsonReader reader_;
    std::string text_;
    bool has_hidden_ = false;
};

Redaction::Redaction(RedactionRules rules) : rules_(std::move(rules)) {
    for (std::string& name : rules_.names) name = lower(name);
}

bool Redaction::is_name(std::string_view member) const {
    const std::string small = lower(member);
    return std::find(rules_.names.begin(), rules_.names.end(), small) != rules_.names.end();
}

/// Most payloads have nothing to hide, and are not read. A name may be written with escapes.
bool Redaction::may_contain_name(std::string_view payload) const {
    if (payload.find('\\') != std::string_view::npos) return true;
    const auto is_same = [](char left, char right) { return lower(left) == right; };
    return std::any_of(rules_.names.begin(), rules_.names.end(), [&](const std::string& name) {
        return std::search(payload.begin(), payload.end(), name.begin(), name.end(), is_same) !=
               payload.end();
    });
}

Payload Redaction::apply(const Payload& payload, const std::string& workflow) const {
    std::vector<const Segments*> places;
    for (const RedactionRules::Place& place : rules_.places) {
        if (fits_pattern(place.workflow, workflow)) places.push_back(&place.segments);
    }
    if (payload.empty() || (places.empty() && !may_contain_name(payload))) return payload;
    try {
        const auto copy = Copy(*this, payload).without(places);
        return copy ? Payload(*copy) : payload;
    } catch (const JsonSyntaxError&) {
        // What cannot be read may hold anything.
        return std::string(kMark);
    }
}

}  // namespace ebb::server
