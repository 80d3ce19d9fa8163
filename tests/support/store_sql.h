#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "ebb_test_dirs.h"

namespace ebb::testing {

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The statements of a folder of .sql files by name, without fragments and names of parameters.
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

/// The statements of `database/header` by name, as cmake/embed_sql.cmake has embedded them:
/// `postgres/sql`.
inline std::map<std::string, std::string> embedded_statements(const std::string& header) {
    const std::string text = read_text(EBB_BINARY_DIR "/src/generated/ebb/" + header + ".h");
    const std::string begin = "inline constexpr std::string_view ";
    const std::string open = " = R\"sql(";
    const std::string close = ")sql\";";
    std::map<std::string, std::string> statements;
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        at += begin.size();
        const auto name_end = text.find(open, at);
        const auto from = name_end + open.size();
        const auto to = text.find(close, from);
        statements[text.substr(at, name_end - at)] = text.substr(from, to - from) + "\n";
        at = to;
    }
    return statements;
}

}  // namespace ebb::testing
