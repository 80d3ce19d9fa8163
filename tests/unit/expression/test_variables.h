#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/expression/expression.h"

namespace ebb {

/// Variables and completed steps by name, from two JSON objects.
class TestVariables : public Variables {
 public:
    TestVariables() = default;

    explicit TestVariables(Json variables, Json steps = Json::object())
        : variables_(std::move(variables)), steps_(std::move(steps)) {}

    const Json* find(std::string_view name) const override { return member(variables_, name); }

    const Json* find_step(std::string_view name) const override {
        const Json* step = member(steps_, name);
        return step == nullptr || !step->contains("output") ? nullptr : step;
    }

    const Json* find_attempts(std::string_view name) const override { return member(steps_, name); }

 private:
    static const Json* member(const Json& object, std::string_view name) {
        const auto found = object.find(name);
        return found == object.end() ? nullptr : &*found;
    }

    Json variables_ = Json::object();
    Json steps_ = Json::object();
};

inline TestVariables with(Json variables) {
    return TestVariables(std::move(variables));
}

inline Json evaluate(std::string_view source, const Variables& variables = TestVariables()) {
    return Expression::compile(source).evaluate(variables);
}

/// What goes wrong, as `line:column message`; what comes out when nothing does.
inline std::string complaint(
    std::string_view source, const Variables& variables = TestVariables()
) {
    try {
        return "no error but " + evaluate(source, variables).dump();
    } catch (const ExpressionError& error) {
        return std::to_string(error.line()) + ":" + std::to_string(error.column()) + " " +
               error.message();
    }
}

}  // namespace ebb
