#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

namespace ebb::diagram {
struct Notes;
}

// Workflows that C++ code builds, read without a compiler and without running anything. What only
// the program knows is unknown here, and said to be.

namespace ebb::source {

/// Bytes of the text.
struct CppPlace {
    std::size_t begin = 0;
    std::size_t end = 0;

    bool operator==(const CppPlace&) const = default;
};

/// A part of a workflow that is decided when the program runs.
struct CppUnknown {
    std::string path;  ///< JSON pointer
    std::string text;  ///< the source text
    CppPlace place;
};

struct CppWorkflow {
    Definition definition;  ///< an unknown text is `‹source text›`, an unknown number the default
    CppPlace place;         ///< of `WorkflowBuilder(...)`
    std::map<std::string, CppPlace> places;  ///< by JSON pointer: of nodes and of what they say
    std::vector<CppUnknown> unknown;
    /// By JSON pointer of a node: the loop or the condition around the code that adds it.
    std::map<std::string, std::string> frames;

    /// The definition is the one that the program builds.
    bool is_exact() const { return unknown.empty() && frames.empty(); }

    /// The place of `path` or of what it is in.
    CppPlace place_of(std::string_view path) const;
};

struct CppLimits {
    static constexpr std::size_t kBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kWorkflowsMax = 1'000;  ///< of one file
    static constexpr std::size_t kHandlersMax = 10'000;  ///< of one file
    static constexpr int kInlinedMax = 32;               ///< functions and blocks in each other
    static constexpr int kNestingMax = 64;               ///< blocks in blocks
    static constexpr std::size_t kStatementsMax = 5'000;
    static constexpr std::size_t kTurnsMax = 64;  ///< of a loop over a list of literals
};

/// May the text have workflows or handlers?
bool may_have_workflows(std::string_view text);

/// The workflows of a file, in the order of the text.
std::vector<CppWorkflow> scan_workflows(std::string_view text);

/// Why a file with RulesBuilder counts as one without a workflow, as a sentence.
constexpr std::string_view kRulesAreNotRead =
    "Ebb does not read rules that ebb::RulesBuilder builds: nothing in them was checked. See "
    "docs/how-to/diagrams.md.";

/// Is it a file of C++, by its name?
bool is_cpp_name(std::string_view name);

/// What a picture has to say of the parts that are unknown.
diagram::Notes notes_of(const CppWorkflow& workflow);

/// The problems of the workflow with their places in `text`. Of a workflow with unknown parts only
/// those that no unknown part can change.
std::vector<Diagnostic> check_cpp(
    const CppWorkflow& workflow, std::string_view text, const std::string& file
);

/// How many problems `check_cpp` leaves out because an unknown part may cause or remove them.
struct CppWithheld {
    std::size_t count = 0;
    int line = 0;  ///< of the first unknown part, from 1; 0 if there is none

    bool operator==(const CppWithheld&) const = default;
};

CppWithheld withheld_problems(const CppWorkflow& workflow, std::string_view text);

/// Where a handler is named.
struct CppHandler {
    std::string name;
    CppPlace place;  ///< of the name

    bool operator==(const CppHandler&) const = default;
};

/// Where handlers are registered: `handlers.add("charge", ...)`.
std::vector<CppHandler> scan_handlers(std::string_view text);

/// Where the steps and compensations of a workflow call handlers, as far as their names are known.
std::vector<CppHandler> called_handlers(const CppWorkflow& workflow);

struct CppFile {
    std::vector<CppWorkflow> workflows{};
    std::vector<CppHandler> handlers{};  ///< that it registers
    bool has_rules = false;              ///< it builds rules, which are not read
};

/// The workflows and the registrations of a file, which is read once.
CppFile scan_cpp(std::string_view text);

}  // namespace ebb::source
