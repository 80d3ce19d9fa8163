#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/error.h>

#include "store/wed_flow.h"

// WSQL, the language in which flows of WED-SQL are sketched.

namespace ebb::cli {

/// What the statements of a text say.
struct WsqlFlow {
    std::string name{};  ///< of CREATE WED-FLOW; empty if there is none
    WedFlow flow{};
    /// By line.
    std::vector<Diagnostic> problems{};
};

struct WsqlLimits {
    static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
    static constexpr std::size_t kStatementsMax = 4'096;
};

/// Reads both forms of the language (docs/explanation/wed-sql.md lists the statements). Finds all
/// problems; conditions are not read here.
WsqlFlow read_wsql(std::string_view text);

}  // namespace ebb::cli
