#include "cli/current_config.h"

#include <filesystem>

#include <fmt/format.h>

#include "cli/ignore_rules.h"
#include "cli/regular_file.h"

namespace ebb::cli {

source::WorkspaceConfig read_current_config() {
    const std::string name(source::kWorkspaceConfigName);
    const auto text = read_regular_file(name, source::WorkspaceConfigLimits::kBytesMax);
    if (!text) return {};
    source::WorkspaceConfig config = source::read_workspace_config(*text, name);
    if (!config.problems.empty()) {
        const Diagnostic& problem = config.problems.front();
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("{}:{}:{}: {}", name, problem.line, problem.column, problem.message)
        );
    }
    return config;
}

bool is_excluded(const source::WorkspaceConfig& config, std::string_view path) {
    namespace fs = std::filesystem;
    if (config.exclude.empty()) return false;
    std::error_code error;
    const fs::path whole = fs::absolute(fs::path(path), error).lexically_normal();
    const std::string relative = whole.lexically_relative(fs::current_path(error)).generic_string();
    if (error || relative.empty() || relative.starts_with("..")) return false;
    const IgnoreRules rules(config.exclude);
    using Verdict = IgnoreRules::Verdict;
    for (std::size_t slash = relative.find('/'); slash != std::string::npos;
         slash = relative.find('/', slash + 1)) {
        if (rules.judge(relative.substr(0, slash), true) == Verdict::Ignored) return true;
    }
    return rules.judge(relative, false) == Verdict::Ignored;
}

}  // namespace ebb::cli
