// The labels of a new instance.

#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/kernel/transition.h"
#include "core/model/label_values.h"

namespace ebb::kernel {

bool put_labels(Transition& t, const event::Started& e) {
    const auto& declared = t.program.labels();
    if (declared.empty() && e.labels.empty()) return true;
    Labels labels = e.labels;
    std::string_view label_name;  // that is being rendered
    try {
        const Token start{.input = 1};
        const TokenVariables variables(t, start);
        for (const Program::Label& label : declared) {
            if (labels.contains(label.name)) continue;
            label_name = label.name;
            const Json value = label.value.render(variables);
            if (value.is_null()) continue;
            labels.emplace(label.name, label_of(label.name, label.type, value));
        }
        check_labels(labels);
    } catch (const ExpressionError& error) {
        t.refuse(
            "expression_error",
            fmt::format("The label \"{}\" cannot be set: {}", label_name, error.what())
        );
        return false;
    } catch (const Error& error) {
        t.refuse(std::string(to_string(error.code())), error.what());
        return false;
    }
    t.state.labels = std::move(labels);
    return true;
}

}  // namespace ebb::kernel
