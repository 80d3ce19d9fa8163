#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ebb/json.h>

#include "core/model/walk.h"
#include "lsp/document.h"
#include "lsp/features/names.h"

// What expressions of a workflow yield for inputs that its author has named.

namespace ebb::lsp {

/// What an expression is tried on.
struct TrialData {
    std::string name{};                                  ///< of the sample
    Json input{};                                        ///< of the instance
    std::map<std::string, Json, std::less<>> outputs{};  ///< of steps
};

struct Trial {
    std::string name{};
    Json value{};
    std::string error{};      ///< empty = it has a value
    bool is_unknown = false;  ///< the expression reads what the data does not have
};

/// The `samples` of the text, also of a broken one.
std::vector<TrialData> samples_of(const Document& document);

/// The expression that is at `offset`.
std::optional<ExpressionPlace> expression_at(const yaml::LineTree& tree, std::size_t offset);

/// Evaluates expressions as if they stood in a scalar of the text. The document must outlive it.
class Evaluation {
 public:
    Evaluation(const Document& document, const CheckSettings& settings, int scalar);

    Trial run(const std::string& source, const TrialData& data) const;

    /// The types that the value can have by the schemas of the workflow, for people; empty if it
    /// can be anything or if the source does not compile.
    std::string type(const std::string& source) const;

    /// Does `input` mean the instance's input here, whatever the steps do?
    bool reads_instance_input() const { return is_instance_input_; }

 private:
    const Definition& definition_;
    model::Walk walk_;
    bool is_instance_input_ = false;
    std::string before_{};  ///< the node whose output `input` is; empty = unknown

    void find_input(int number);
};

}  // namespace ebb::lsp
