#include "cli/payload_argument.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/text.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kPayloadFileBytesMax = std::size_t{8} << 20;

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

bool is_document(const std::filesystem::path& path) {
    const std::filesystem::path extension = path.extension();
    return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

/// The file of the same folder that is probably meant; empty if there is none. The extension may be
/// another one.
std::string similar_file(const std::filesystem::path& path) {
    constexpr int kNamesMax = 1'000;
    std::map<std::string, std::filesystem::path> names;
    std::error_code error;
    const std::filesystem::path parent = path.parent_path();
    std::filesystem::directory_iterator entry(
        parent.empty() ? std::filesystem::path(".") : parent, error
    );
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (std::ssize(names) == kNamesMax) break;
        const std::filesystem::path name = entry->path().filename();
        if (is_document(path) && !is_document(name)) continue;
        std::error_code dangling;
        if (entry->is_regular_file(dangling)) names.emplace(name.stem().string(), name);
    }
    std::vector<std::string> stems;
    for (const auto& [stem, name] : names) stems.push_back(stem);
    const auto found = names.find(closest(path.stem().string(), stems));
    return found == names.end() ? std::string() : (parent / found->second).string();
}

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& why) {
    throw Error(
        ErrorCode::InvalidArgument, fmt::format("The file \"{}\" cannot be read: {}.", path, why)
    );
}

/// A word or a few, typed without the quotes of JSON.
bool is_bare_text(std::string_view argument) {
    constexpr std::size_t kBytesMax = 80;
    const bool has_own_form = argument == "-" || argument.starts_with('@') ||
                              argument.starts_with('{') || argument.starts_with('[');
    return !argument.empty() && argument.size() <= kBytesMax && !has_own_form &&
           std::none_of(argument.begin(), argument.end(), [](char c) {
               return c == '"' || c == '\'' || c == '\\' || static_cast<unsigned char>(c) < ' ';
           });
}

}  // namespace

void throw_missing(const std::string& path, std::string_view cure) {
    std::string text = fmt::format("The file \"{}\" does not exist.", one_line(path));
    if (const std::string similar = similar_file(path); !similar.empty()) {
        text += fmt::format(" Did you mean \"{}\"?", one_line(similar));
    } else if (!cure.empty()) {
        text += fmt::format(" {}", cure);
    }
    throw Error(ErrorCode::InvalidArgument, text);
}

std::string read_file(const std::string& path, std::size_t bytes_max) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw_unreadable(path, "it is a directory");
    const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rbe"));
    if (!file && errno == ENOENT) throw_missing(path);
    if (!file) throw_unreadable(path, std::strerror(errno));
    std::string text;
    char buffer[1 << 14];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
        text.append(buffer, got);
        if (text.size() > bytes_max) {
            throw Error(
                ErrorCode::LimitExceeded,
                fmt::format("The file \"{}\" is larger than {} bytes.", path, bytes_max)
            );
        }
    }
    if (std::ferror(file.get()) != 0) throw_unreadable(path, std::strerror(errno));
    return text;
}

Payload read_payload(std::string_view argument, std::string_view option, CliStreams& streams) {
    std::string text(argument);
    std::string what = fmt::format("The value of {}", option);
    if (argument == "-") {
        text = streams.read_input();
        what = fmt::format("The text that {} reads from stdin", option);
    } else if (argument.starts_with('@')) {
        const std::string path(argument.substr(1));
        text = read_file(path, kPayloadFileBytesMax);
        what = fmt::format("The file \"{}\" of {}", path, option);
    }
    // Its size is the engine's to judge, by its own limit.
    try {
        check_payload(text, what, {.payload_bytes_max = kPayloadFileBytesMax});
    } catch (const Error& error) {
        if (!is_bare_text(argument)) throw;
        throw Error(
            error.code(),
            fmt::format(
                "{} A text needs quotes, also for the shell: {} '\"{}\"'.",
                error.what(),
                option,
                argument
            )
        );
    }
    return text;
}

}  // namespace ebb::cli
