#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace ebb::sim {

/// What an expression or a template yields, as far as the checker understands it.
struct Value {
    enum class Kind {
        Known,
        Wrong,   ///< it cannot be evaluated: the node fails
        Unread,  ///< the checker does not understand it, and judges nothing
    };

    Kind kind = Kind::Unread;
    nlohmann::json value{};

    bool is_known() const { return kind == Kind::Known; }

    bool is_true() const { return is_known() && value == true; }
};

/// What an expression may read.
struct Facts {
    nlohmann::json input;
    nlohmann::json workflow_input;
    /// The output of a step; nothing when it has none yet. Unread: it is not for the checker.
    std::function<Value(const std::string& step)> output_of;
    /// Of the step itself, where an edge is chosen by it.
    std::optional<nlohmann::json> output{};
};

/// A small part of the expression language, read independently: `has(PATH)`, `PATH > 2`, `PATH <
/// 2`, numbers, `'text'`, `null`, paths, `A && B`, `CONDITION ? A : B`, where a path begins with
/// `input`, `output`, `workflow.input` or `steps.NAME`.
Value evaluate(const std::string& expression, const Facts& facts);

/// A template: JSON in which a text that is `${ expression }` stands for its value.
Value render(const nlohmann::json& text, const Facts& facts);

}  // namespace ebb::sim
