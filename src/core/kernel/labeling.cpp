// The labels of a new instance.

#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/kernel/transition.h"
#include "core/model/label_values.h"

namespace ebb::kernel {

namespace {

/// An error names the label.
Json render(const Program::Label& label, const TokenVariables& variables) {
    try {
        return label.value.render(variables);
    } catch (const ExpressionError& error) {
        throw Error(
            error.code(),
            fmt::format("The label \"{}\" cannot be set: {}", label.name, error.what())
        );
    }
}

}  // namespace

bool put_labels(Transition& t, const event::Started& e) {
    const auto& declared = t.program.labels();
    if (declared.empty() && e.labels.empty()) return true;
    Labels labels = e.labels;
    try {
        const Token start{.input = 1};
        const TokenVariables variables(t, start);
        for (const Program::Label& label : declared) {
            if (labels.contains(label.name)) continue;
            const Json value = render(label, variables);
            if (value.is_null()) continue;
            labels.emplace(label.name, label_of(label.name, label.type, value));
        }
        check_labels(labels);
    } catch (const Error& error) {
        t.refuse(std::string(to_string(error.code())), error.what());
        return false;
    }
    t.state.labels = std::move(labels);
    return true;
}

}  // namespace ebb::kernel
