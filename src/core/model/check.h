#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/definition.h>
#include <ebb/json.h>

#include "core/expression/spans.h"

// Checks the meaning of a definition, however it was built: `validate` and its parts.

namespace ebb::model {

/// More are not collected: they would not be read, and a megabyte can hold a million.
inline constexpr std::size_t kProblemsMax = 1'000;

/// Where a definition comes from.
enum class Origin {
    New,
    /// It was registered, perhaps by an earlier version, and stays valid: checks that were added
    /// later do not apply.
    Stored,
};

/// A problem of a definition. `path` points into the canonical JSON form.
struct Finding {
    Diagnostic diagnostic;
    /// Of a problem with a part of a text: these bytes of it. Empty = the whole.
    std::optional<expression::Span> span{};
    /// What probably was meant instead of that part; empty = unknown.
    std::string meant{};
};

class Findings {
 public:
    explicit Findings(Origin origin = Origin::New) : origin_(origin) {}

    bool is_of_stored() const { return origin_ == Origin::Stored; }

    void note(std::string code, std::string path, std::string message) {
        note(
            {.diagnostic =
                 {.code = std::move(code), .path = std::move(path), .message = std::move(message)}}
        );
    }

    void note(Finding finding) {
        if (findings_.size() < kProblemsMax) findings_.push_back(std::move(finding));
    }

    const std::vector<Finding>& all() const { return findings_; }

    bool is_empty() const { return findings_.empty(); }

 private:
    std::vector<Finding> findings_;
    Origin origin_;
};

/// Everything, in the order of the canonical form.
Findings check(const Definition& definition, Origin origin = Origin::New);

/// What `validate` gives.
std::vector<Diagnostic> diagnostics_of(const Findings& findings);

// The parts. `path` is where the value is.

/// `[A-Za-z_][A-Za-z0-9_.-]*`: of workflows, nodes, branches and queues. `what` says which: `node`.
void check_name(
    Findings& findings, const std::string& path, std::string_view what, std::string_view name
);
/// Anything that can be printed, without spaces: handlers and signals, whose names others choose.
void check_outside_name(
    Findings& findings, const std::string& path, std::string_view what, std::string_view name
);
/// UTF-8 without U+0000, at most `bytes_max` long.
void check_text(
    Findings& findings, const std::string& path, std::string_view text, std::size_t bytes_max
);
/// `path` is of the object that has the policy's keys.
void check_attempts(Findings& findings, const std::string& path, const AttemptPolicy& attempts);
/// `queue` may be empty.
void check_queue(Findings& findings, const std::string& path, const std::string& queue);
void check_duration(Findings& findings, const std::string& path, Duration duration);
/// What the rules of a definition say, besides its steps.
void check_rules(Findings& findings, const Definition& definition);
/// What can be checked in a JSON Schema without a validator: the types of its keywords.
void check_schema(Findings& findings, const std::string& path, const Json& schema);
/// A JSON Schema as a text, with all that its validator needs. Empty = none.
void check_schema_text(Findings& findings, const std::string& path, const Payload& schema);

}  // namespace ebb::model
