#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/handler.h>
#include <ebb/node_types.h>

#include "core/expression/template.h"

namespace ebb {

/// What the kernel leaves at the place of a text with late expressions. Empty if the text also has
/// other expressions, so that it cannot be known.
std::optional<std::string> text_at_call(const std::string& text);

/// The expressions of steps' inputs that are evaluated at the call. Only what a definition says is
/// ever evaluated: a text that came with the data and looks like an expression stays a text.
class LateInputs {
 public:
    /// Workflow, version, step.
    using Place = std::tuple<std::string, int, std::string>;

    /// Notes a text that mixes late and other expressions, which cannot be distinguished at the
    /// call.
    void learn(
        const Place& place,
        const Payload& input,
        const std::string& path,
        std::vector<Diagnostic>& problems
    );

    bool knows(const Place& place) const { return leaves_.contains(place); }

    /// Throws ExpressionError.
    Payload fill(const Payload& input, const StepContext& step, const CallValues& values) const;

 private:
    struct Leaf {
        Json::json_pointer at;
        std::string text;  ///< what the kernel leaves there
        Template compiled;
    };

    std::map<Place, std::vector<Leaf>> leaves_;
};

}  // namespace ebb
