#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "cli/definition_file.h"
#include "cli/session.h"

namespace ebb::cli {

/// A problem as compilers show it: `file:line:column: error: ...` with the source line and a caret.
std::string diagnostic_text(
    const DefinitionFile& file, const Diagnostic& problem, const Style& style
);

/// `ebb: code: message` and a hint, to stderr; with --json one document. Returns `exit_code`.
struct Complaint {
    int exit_code = kInternal;
    std::string_view code;
    std::string_view message;
    std::string_view hint;
};

int complain(Session& session, const Complaint& complaint);

/// Tells the problems of a file. Returns the exit code.
int report_invalid_file(Session& session, const DefinitionFile& file);

/// Tells what an exception of a command says. Returns the exit code.
int report_failure(Session& session, std::exception_ptr failure);

}  // namespace ebb::cli
