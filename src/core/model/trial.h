#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/json.h>

#include "core/model/walk.h"

// What expressions of a workflow yield for inputs that its author has named.

namespace ebb::model {

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

/// A node of a workflow, at which expressions are tried. The definition must outlive it.
class TrialPlace {
 public:
    /// `node`: empty, or unknown, if `input` means nothing that is known.
    TrialPlace(const Definition& definition, std::string_view node);

    Trial run(const std::string& source, const TrialData& data) const;

    /// Does `input` mean the instance's input here, whatever the steps do?
    bool reads_instance_input() const { return is_instance_input_; }

    /// The node whose output `input` is; empty = unknown.
    const std::string& before() const { return before_; }

    const Walk& walk() const { return walk_; }

    const Definition& definition() const { return definition_; }

 private:
    const Definition& definition_;
    Walk walk_;
    bool is_instance_input_ = false;
    std::string before_{};

    void find_input(int number);
};

/// The expressions of a text: those in its `${ }`, or without any the text itself.
std::vector<std::string> expressions_of(const std::string& text);

}  // namespace ebb::model
