#pragma once

#include <functional>
#include <memory>
#include <optional>
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

/// Whose payload it is.
struct WorkflowVersion {
    std::string workflow{};
    int version = 0;
};

/// Replaces what is sensitive on its way out: by the rules of the server, and by `sensitive` of the
/// definition. Thread-safe.
class Redaction {
 public:
    /// What stands in place of a value.
    static constexpr std::string_view kMark = "\"\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\"";

    /// The JSON text of a version of a workflow; empty if there is none.
    using DefinitionText =
        std::function<std::optional<std::string>(const std::string& workflow, int version)>;

    /// `text_of` is called by any thread, and once for each version; null = there are only rules.
    explicit Redaction(RedactionRules rules, DefinitionText text_of = nullptr);
    ~Redaction();

    /// What stays is as it was: numbers keep their digits. Unchanged if nothing in the payload is
    /// sensitive. Throws Error if the definition cannot be read: then nothing is shown.
    Payload apply(const Payload& payload, const WorkflowVersion& of) const;

    bool hides_payloads() const { return rules_.hides_payloads; }

 private:
    class Copy;
    class Definitions;

    bool may_contain_name(std::string_view payload) const;
    bool is_name(std::string_view member) const;

    RedactionRules rules_;  // its names are in lower case
    std::unique_ptr<Definitions> definitions_;
};

}  // namespace ebb::server
