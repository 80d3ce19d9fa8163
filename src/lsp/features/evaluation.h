#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ebb/json.h>

#include "core/model/trial.h"
#include "lsp/document.h"
#include "lsp/features/names.h"

// What expressions of a workflow yield for inputs that its author has named.

namespace ebb::lsp {

using model::Trial;
using model::TrialData;

/// The `samples` of the text, also of a broken one.
std::vector<TrialData> samples_of(const Document& document);

/// The expression that is at `offset`.
std::optional<ExpressionPlace> expression_at(const yaml::LineTree& tree, std::size_t offset);

/// Evaluates expressions as if they stood in a scalar of the text. The document must outlive it.
class Evaluation {
 public:
    Evaluation(const Document& document, const CheckSettings& settings, int scalar);

    Trial run(const std::string& source, const TrialData& data) const {
        return place_.run(source, data);
    }

    /// The types that the value can have by the schemas of the workflow, for people; empty if it
    /// can be anything or if the source does not compile.
    std::string type(const std::string& source) const;

    /// Does `input` mean the instance's input here, whatever the steps do?
    bool reads_instance_input() const { return place_.reads_instance_input(); }

 private:
    model::TrialPlace place_;
};

}  // namespace ebb::lsp
