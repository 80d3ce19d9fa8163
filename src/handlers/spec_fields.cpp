#include <array>
#include <span>

#include <fmt/format.h>

#include "core/expression/fixed_fields.h"
#include "handlers/spec.h"
#include "handlers/spec_reader.h"

namespace ebb {

namespace {

using expression::FixedFields;

constexpr std::array<std::string_view, 1> kInstanceFields = {"id"};
constexpr std::array<std::string_view, 2> kWorkflowFields = {"name", "version"};

/// Of what CallVariables gives.
constexpr std::array<FixedFields, 5> kCallFields = {{
    {.variable = "instance", .fields = kInstanceFields},
    {.variable = "workflow", .fields = kWorkflowFields},
    {.variable = "step", .type = "a string"},
    {.variable = "attempt", .type = "an int"},
    {.variable = "idempotency_key", .type = "a string"},
}};

class FieldChecker {
 public:
    FieldChecker(std::string path, std::vector<Diagnostic>& problems)
        : path_(std::move(path)), problems_(problems) {}

    void operator()(std::monostate) {}

    void operator()(const ExecSpec& spec) {
        for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
            check(spec.arguments[i].expressions(), fmt::format("/exec/{}", i));
        }
        for (const auto& [name, value] : spec.environment) {
            check(value.expressions(), "/env/" + escape_pointer(name));
        }
    }

    void operator()(const HttpSpec& spec) {
        check(spec.url.expressions(), "/http/url");
        for (const auto& [name, value] : spec.headers) {
            check(value.expressions(), "/http/headers/" + escape_pointer(name));
        }
        if (spec.body) check(spec.body->expressions(), "/http/body");
    }

 private:
    std::string path_;
    std::vector<Diagnostic>& problems_;

    void check(std::span<const Expression> expressions, const std::string& at) {
        for (const Expression& one : expressions) {
            for (const expression::FieldRead& read : expression::field_reads(one)) {
                auto unknown = expression::judge(read, kCallFields);
                if (!unknown) continue;
                problems_.push_back(
                    {.code = "unknown_field",
                     .path = path_ + at,
                     .message = std::move(unknown->message)}
                );
            }
        }
    }
};

}  // namespace

void check_fields(
    const std::string& name, const HandlerSpec& spec, std::vector<Diagnostic>& problems
) {
    std::visit(FieldChecker("/handlers/" + escape_pointer(name), problems), spec);
}

}  // namespace ebb
