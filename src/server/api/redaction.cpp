#include "server/api/redaction.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "server/auth/grants.h"
#include "support/json_pointer.h"
#include "support/json_reader.h"
#include "support/sync.h"

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

/// The cache of definitions. When it is full, it is emptied and read again.
constexpr std::size_t kDefinitionsMax = 1'000;

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
    auto segments = parse_json_pointer(text.substr(colon + 1));
    if (segments) return {std::string(text.substr(0, colon)), std::move(*segments)};
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("\"{}\" is not WORKFLOW:/POINTER: in a pointer, ~ is followed by 0 or 1.", text)
    );
}

/// Copies one JSON text without what is sensitive.
class Redaction::Copy {
 public:
    /// `floating` begin again in each object and list.
    Copy(
        const Redaction& redaction, std::string_view payload, const std::vector<Segments>& floating
    )
        : redaction_(redaction), reader_(payload), floating_(floating) {}

    /// Null: there is nothing to hide.
    std::optional<std::string> without(const std::vector<const Segments*>& places) {
        std::vector<Open> open;
        for (const Segments* place : places) open.push_back({place, 0});
        for (const Segments& place : floating_) open.push_back({&place, 0});
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

    void inside(const std::vector<Open>& open) {
        if (floating_.empty()) return value(open);
        std::vector<Open> all = open;
        for (const Segments& place : floating_) all.push_back({&place, 0});
        value(all);
    }

    void part(bool is_hidden, const std::vector<Open>& inner) {
        if (!is_hidden) return inside(inner);
        reader_.skip();
        text_ += kMark;
        has_hidden_ = true;
    }

    const Redaction& redaction_;
    JsonReader reader_;
    const std::vector<Segments>& floating_;
    std::string text_;
    bool has_hidden_ = false;
};

/// What definitions say. A version never changes, so it is read once.
class Redaction::Definitions {
 public:
    using Pointers = std::shared_ptr<const std::vector<Segments>>;

    explicit Definitions(DefinitionText text_of) : text_of_(std::move(text_of)) {}

    Pointers of(const std::string& workflow, int version) {
        const std::pair<std::string, int> place{workflow, version};
        {
            const Lock lock(mutex_);
            const auto found = known_.find(place);
            if (found != known_.end()) return found->second;
        }
        const auto text = text_of_(workflow, version);
        auto pointers = std::make_shared<const std::vector<Segments>>(
            text ? read(*text) : std::vector<Segments>()
        );
        if (!text) return pointers;
        const Lock lock(mutex_);
        if (known_.size() >= kDefinitionsMax) known_.clear();
        return known_[place] = std::move(pointers);
    }

 private:
    static std::vector<Segments> read(const std::string& definition) {
        std::vector<Segments> pointers;
        const auto json = nlohmann::json::parse(definition);
        for (const auto& pointer : json.value("sensitive", nlohmann::json::array())) {
            auto segments = parse_json_pointer(pointer.get<std::string>());
            if (!segments) continue;
            // A write of attributes has what was there before as the first item of a list.
            if (segments->size() > 1) {
                Segments before = *segments;
                before.insert(before.begin() + 1, "0");
                pointers.push_back(std::move(before));
            }
            pointers.push_back(std::move(*segments));
        }
        return pointers;
    }

    const DefinitionText text_of_;
    Mutex mutex_;
    std::map<std::pair<std::string, int>, Pointers> known_ EBB_GUARDED_BY(mutex_);
};

Redaction::Redaction(RedactionRules rules, DefinitionText text_of) : rules_(std::move(rules)) {
    for (std::string& name : rules_.names) name = lower(name);
    if (text_of) definitions_ = std::make_unique<Definitions>(std::move(text_of));
}

Redaction::~Redaction() = default;

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

Payload Redaction::apply(const Payload& payload, const WorkflowVersion& of) const {
    if (payload.empty()) return payload;
    std::vector<const Segments*> places;
    for (const RedactionRules::Place& place : rules_.places) {
        if (fits_pattern(place.workflow, of.workflow)) places.push_back(&place.segments);
    }
    const auto own = definitions_ ? definitions_->of(of.workflow, of.version) : nullptr;
    static const std::vector<Segments> kNone;
    const std::vector<Segments>& floating = own ? *own : kNone;
    if (places.empty() && floating.empty() && !may_contain_name(payload)) return payload;
    try {
        const auto copy = Copy(*this, payload, floating).without(places);
        return copy ? Payload(*copy) : payload;
    } catch (const JsonSyntaxError&) {
        // What cannot be read may hold anything.
        return std::string(kMark);
    }
}

}  // namespace ebb::server
