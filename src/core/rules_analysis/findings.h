#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/rules_analysis/analysis.h"

namespace ebb::rules_analysis {

/// Collects findings.
class Notes {
 public:
    void note(
        Diagnostic::Severity severity, std::string code, std::string path, std::string message
    );
    /// Adds another place to the last one.
    void relate(std::string message, std::string path);

    std::vector<Diagnostic> take() { return std::move(found_); }

    /// A trigger or a final condition already has a finding that explains why it never holds.
    void explain(std::string path) { explained_.insert(std::move(path)); }

    bool is_explained(const std::string& path) const { return explained_.contains(path); }

 private:
    std::vector<Diagnostic> found_;
    std::set<std::string> explained_;
};

std::string trigger_path(std::size_t trigger);
std::string condition_path(std::string_view list, std::size_t index);

/// What conditions say by themselves: dead, constant, shadowed; attributes that nothing uses.
void find_in_conditions(const Subject& subject, Notes& notes);

/// What the search did not reach. `unlisted`: a search in which transitions write any values,
/// because lists in `writes` are hints that the kernel does not enforce; null = there are no lists.
/// What only the lists exclude is a warning.
void find_unreachable(
    const Subject& subject, const Search& search, const Search* unlisted, Notes& notes
);

/// What can go wrong, with a path that leads there.
void find_traps(const Subject& subject, const Search& search, Notes& notes);

}  // namespace ebb::rules_analysis
