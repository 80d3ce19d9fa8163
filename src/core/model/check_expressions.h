#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

#include "core/expression/expression.h"
#include "core/expression/fixed_fields.h"
#include "core/expression/template.h"
#include "core/model/check.h"
#include "core/model/walk.h"

namespace ebb::model {

/// Judges the expressions of one definition: whether they compile, and whether what they read can
/// exist.
class ExpressionChecker {
 public:
    /// Both must outlive it.
    ExpressionChecker(Findings& findings, const Walk& walk);

    /// An expression that yields a bool, evaluated at the node `reader` (its number in the walk).
    /// Returns its value when it is constant.
    std::optional<bool> condition(int reader, const std::string& path, const std::string& source);

    /// An expression that yields anything, evaluated when the node `reader` is reached.
    void value(int reader, const std::string& path, const std::string& source);

    /// An expression over a step's `output` that yields a handle.
    void handle(int reader, const std::string& path, const std::string& source);

    /// Text with `${expression}` parts. True when it is valid and has none.
    bool text(int reader, const std::string& path, const std::string& source);

    /// JSON text whose strings are such texts. `reader` -1: at the end of the workflow.
    void payload(int reader, const std::string& path, const Payload& payload);

 private:
    Findings& findings_;
    const Walk& walk_;
    std::vector<std::string_view> names_;
    bool can_resume_ = false;

    struct Reads {
        const std::vector<std::string>& steps;
        const std::vector<std::string>& attempts;
        const std::vector<std::string>& variables;
        std::string_view source;     ///< what reads them
        bool is_text = false;        ///< it has `${ }` parts
        bool is_after_step = false;  ///< `output` is there, too
    };

    static std::optional<expression::Span> find_step(const Reads& reads, std::string_view name);
    static std::optional<expression::Span> find_variable(const Reads& reads, std::string_view name);
    /// `text` is what the error's expression is a part of.
    void note_error(const std::string& path, std::string_view text, const ExpressionError& error);
    void note_braces(const std::string& path, std::string_view source);
    void unconditional(
        int reader, const std::string& path, const std::string& source, bool is_after_step
    );
    void check_reads(int reader, const std::string& path, const Reads& reads);
    /// What is wrong with a field of a variable that has fixed ones.
    std::optional<expression::UnknownField> judge_field(const expression::FieldRead& read) const;
    void check_fields(const std::string& path, const Reads& reads);
    void check_step(
        int reader, const std::string& path, const std::string& name, const Reads& reads
    );
    /// A step of which `attempts` or `error` is read.
    void check_attempts(
        int reader, const std::string& path, const std::string& name, const Reads& reads
    );
    /// The number of the node in the walk; -1 = there is none, which is noted in `finding`.
    int find_read(const std::string& name, Finding& finding) const;
    /// Notes it if the node `read` can never have run where `reader` is reached. `what` of it is
    /// read.
    void check_order(int reader, int read, std::string_view what, Finding finding);
    void strings(int reader, const std::string& path, const Json& value);
};

/// Notes fields that a variable of a flow never has, and calls that always fail, of all texts in a
/// valid template. The findings have no place inside of it.
void note_wrong_reads(Findings& findings, const std::string& path, const Json& value);

/// Why the node `read` can never have completed when `reader` is reached; empty when it can.
std::string never_before(const Walk& walk, int reader, int read);

}  // namespace ebb::model
