#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/handler.h>
#include <ebb/node_types.h>

#include "core/expression/template.h"

namespace ebb {

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

    /// Throws ExpressionError.
    Payload fill(const Payload& input, const StepContext& step, const CallValues& values) const;

 private:
    struct Leaf {
        Json::json_pointer at;
        std::string text;  ///< what the kernel leaves there
        Template compiled;
    };

    struct Learning {
        const std::string& path;
        std::vector<Leaf>& leaves;
        std::vector<Diagnostic>& problems;
    };

    static void learn_value(const Json& value, const Json::json_pointer& at, Learning& learning);
    static void learn_text(
        const std::string& text, const Json::json_pointer& at, Learning& learning
    );

    std::map<Place, std::vector<Leaf>> leaves_;
};

}  // namespace ebb
