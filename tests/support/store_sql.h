#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace ebb::testing {

/// The statements of a folder of .sql files by name, as cmake/embed_sql.cmake embeds them.
inline std::map<std::string, std::string> read_statements(const std::filesystem::path& folder) {
    std::map<std::string, std::string> statements;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path());
        std::string line;
        std::string name;
        while (std::getline(file, line)) {
            if (line.starts_with("-- name: ")) {
                name = line.substr(9);
            } else {
                statements[name] += line + "\n";
            }
        }
    }
    return statements;
}

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace ebb::testing
