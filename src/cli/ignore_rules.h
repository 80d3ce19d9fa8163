#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::cli {

/// Patterns of .gitignore: `*.log`, `/build/`, `docs/**/*.pdf`, `!keep.log`. They count for the
/// folder that they come from and what is below it.
class IgnoreRules {
 public:
    static constexpr std::size_t kRulesMax = 10'000;

    IgnoreRules() = default;
    /// The lines of a file.
    explicit IgnoreRules(std::string_view text);
    explicit IgnoreRules(const std::vector<std::string>& patterns);

    bool is_empty() const { return rules_.empty(); }

    enum class Verdict { Silent, Ignored, Kept };

    /// What the last pattern says that matches. `path` is relative to the rules' folder.
    Verdict judge(std::string_view path, bool is_folder) const;

 private:
    struct Rule {
        std::string pattern;  ///< of the whole relative path
        bool is_kept = false;
        bool is_for_folders = false;
    };

    std::vector<Rule> rules_;

    void add(std::string_view line);
};

}  // namespace ebb::cli
