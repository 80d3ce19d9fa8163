// Fuzzes the expression language: compiles any text as an expression and as a template and
// evaluates it with fixed variables. Nothing but an ExpressionError may come out, an equal result
// must come out twice, and a limit holds.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/expression/expression.h"
#include "core/expression/template.h"

namespace {

class FixedVariables : public ebb::Variables {
 public:
    const ebb::Json* find(std::string_view name) const override {
        const auto found = variables_.find(name);
        return found == variables_.end() ? nullptr : &*found;
    }

    const ebb::Json* find_step(std::string_view name) const override {
        return name == "pay" ? &step_ : nullptr;
    }

 private:
    ebb::Json variables_ = ebb::Json::parse(
        R"({"input": {"n": 3, "d": 2.5, "u": 18446744073709551615, "b": true,
            "s": "a\u00e4\ud83d\ude00z",
            "null": null, "list": [1, "x", 2.5, [], {}], "map": {"a": 1, "b": {"c": [0]}}},
            "now": "2026-11-21T08:30:00.123456789Z", "a": [[0]], "x": 1})"
    );
    ebb::Json step_ = ebb::Json::parse(R"({"output": {"id": "p-17"}})");
};

void must_hold(bool condition) {
    if (!condition) std::abort();
}

/// What evaluating gives, an error or a value, as text.
template <typename Evaluate>
std::string outcome(const Evaluate& evaluate) {
    try {
        return evaluate().dump(-1, ' ', false, ebb::Json::error_handler_t::strict);
    } catch (const ebb::ExpressionError& error) {
        must_hold(error.line() >= 1 && error.column() >= 1 && !error.message().empty());
        return error.message();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const FixedVariables variables;
    const ebb::ExpressionLimits limits{.steps_max = 2'000, .result_bytes_max = 4096};
    const auto evaluate = [&] {
        return ebb::Expression::compile(text, limits).evaluate(variables);
    };
    must_hold(outcome(evaluate) == outcome(evaluate));

    // A template is JSON, so it is UTF-8 by then.
    const ebb::Json value = std::string(text);
    try {
        value.dump();
    } catch (const ebb::Json::exception&) {
        return 0;
    }
    const std::string rendered =
        outcome([&] { return ebb::Template::compile_text(text, limits).render(variables); });
    if (text.find('$') == std::string_view::npos) must_hold(rendered == value.dump());
    return 0;
}
