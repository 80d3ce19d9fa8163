#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

namespace ebb::server {

/// Which parts of payloads the server shows only with the permission `payloads.sensitive`.
struct RedactionRules {
    /// Members with these names, at any depth and in any case.
    std::vector<std::string> names{};

    struct Place {
        std::string workflow;               ///< a pattern
        std::vector<std::string> segments;  ///< of a JSON pointer; `*` is any
    };

    std::vector<Place> places{};
    bool hides_payloads = false;  ///< shows only the sizes of payloads

    static std::vector<std::string> default_names();
};

/// `order:/card/number`. Throws Error with InvalidArgument.
RedactionRules::Place parse_redacted_place(std::string_view text);

/// Replaces what is sensitive on its way out. Immutable, so thread-safe.
class Redaction {
 public:
    /// What stands in place of a value.
    static constexpr std::string_view kMark = "\"\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\"";

    explicit Redaction(RedactionRules rules);

    /// A payload of an instance of `workflow`. What stays is as it was: numbers keep their digits.
    /// Unchanged if nothing in it is sensitive.
    Payload apply(const Payload& payload, const std::string& workflow) const;

    bool has_places() const { return !rules_.places.empty(); }

    bool hides_payloads() const { return rules_.hides_payloads; }

 private:
    class Copy;

    bool may_contain_name(std::string_view payload) const;
    bool is_name(std::string_view member) const;

    RedactionRules rules_;  // its names are in lower case
};

}  // namespace ebb::server
