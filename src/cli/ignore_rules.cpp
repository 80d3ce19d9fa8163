#include "cli/ignore_rules.h"

#include <algorithm>

#include "cli/workflow_files.h"

namespace ebb::cli {

IgnoreRules::IgnoreRules(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        add(line);
    }
}

IgnoreRules::IgnoreRules(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) add(pattern);
}

void IgnoreRules::add(std::string_view line) {
    while (line.ends_with(' ') || line.ends_with('\r') || line.ends_with('\t'))
        line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || rules_.size() >= kRulesMax) return;
    Rule rule;
    if (line.starts_with('!')) {
        rule.is_kept = true;
        line.remove_prefix(1);
    }
    if (line.starts_with('\\')) line.remove_prefix(1);
    // All that is in a folder: without the folder nothing in it is looked at.
    if (line.ends_with("/**")) line.remove_suffix(2);
    if (line.ends_with('/')) {
        rule.is_for_folders = true;
        line.remove_suffix(1);
    }
    const bool is_anchored = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) return;
    rule.pattern = (is_anchored ? "" : "**/") + std::string(line);
    rules_.push_back(std::move(rule));
}

IgnoreRules::Verdict IgnoreRules::judge(std::string_view path, bool is_folder) const {
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
        if (rule->is_for_folders && !is_folder) continue;
        if (matches_glob(rule->pattern, path)) {
            return rule->is_kept ? Verdict::Kept : Verdict::Ignored;
        }
    }
    return Verdict::Silent;
}

}  // namespace ebb::cli
