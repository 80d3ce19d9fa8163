#include "source/workspace_config.h"

#include <array>

#include <fmt/format.h>

#include "core/model/document.h"
#include "core/model/placing.h"
#include "core/model/words.h"
#include "yaml/yaml_document.h"

namespace ebb::source {

namespace {

using model::Document;

constexpr std::array<std::string_view, 3> kKeys = {"exclude", "handlers", "types"};

/// Does the path lead out of the folder, as it is written?
bool leads_out(std::string_view path) {
    if (path.starts_with('/')) return true;
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('/'));
        if (part == "..") return true;
        path.remove_prefix(std::min(part.size() + 1, path.size()));
    }
    return false;
}

class Reader {
 public:
    explicit Reader(const std::string& file) : file_(file) {}

    WorkspaceConfig run(std::string_view text) {
        try {
            read(yaml::parse_yaml_document(text, file_));
        } catch (const DefinitionError& error) {
            config_.problems = error.diagnostics();
            // A file of comments only.
            if (config_.problems.front().code == "empty_document") return {};
        }
        if (!config_.problems.empty()) return {.problems = std::move(config_.problems)};
        return std::move(config_);
    }

 private:
    const std::string& file_;
    WorkspaceConfig config_;

    void add(std::string_view code, const std::string& path, std::string message, SourceRange at) {
        Diagnostic problem{
            .code = std::string(code), .path = path, .message = std::move(message), .file = file_
        };
        model::set_range(problem, at);
        config_.problems.push_back(std::move(problem));
    }

    void read(const Document& root) {
        if (!root.is_map()) {
            return add(
                "wrong_type",
                "",
                "The configuration is a map with the keys \"types\", \"handlers\" and \"exclude\".",
                model::range_of(root)
            );
        }
        for (const Document::Member& member : root.members) {
            const std::string path = "/" + member.key;
            if (member.key == "types") {
                config_.types = texts(member.value, path);
                check_paths(member.value);
            } else if (member.key == "handlers") {
                config_.handlers = texts(member.value, path);
            } else if (member.key == "exclude") {
                config_.exclude = texts(member.value, path);
            } else {
                add("unknown_key",
                    path,
                    fmt::format(
                        "There is no key {} in {}.{}",
                        model::in_quotes(member.key),
                        kWorkspaceConfigName,
                        model::hint(member.key, kKeys)
                    ),
                    {member.place.line, member.place.column, member.end.line, member.end.column});
            }
        }
    }

    std::vector<std::string> texts(const Document& list, const std::string& path) {
        std::vector<std::string> all;
        if (!list.is_list()) {
            add("wrong_type", path, "Must be a list of texts.", model::range_of(list));
            return all;
        }
        if (list.elements.size() > WorkspaceConfigLimits::kEntriesMax) {
            add("limit_exceeded",
                path,
                fmt::format(
                    "The list has more than {} entries.", WorkspaceConfigLimits::kEntriesMax
                ),
                model::range_of(list));
            return all;
        }
        for (std::size_t i = 0; i < list.elements.size(); ++i) {
            const Document& element = list.elements[i];
            if (element.is_text() && !element.text().empty()) {
                all.push_back(element.text());
            } else {
                add("wrong_type",
                    fmt::format("{}/{}", path, i),
                    "Must be a text that is not empty.",
                    model::range_of(element));
            }
        }
        return all;
    }

    void check_paths(const Document& list) {
        for (std::size_t i = 0; i < list.elements.size(); ++i) {
            const Document& element = list.elements[i];
            if (!element.is_text() || !leads_out(element.text())) continue;
            add("invalid_path",
                fmt::format("/types/{}", i),
                fmt::format(
                    "{} is not below the folder of {}: give a relative path without \"..\".",
                    model::in_quotes(element.text()),
                    kWorkspaceConfigName
                ),
                model::range_of(element));
        }
    }
};

}  // namespace

WorkspaceConfig read_workspace_config(std::string_view text, const std::string& file) {
    if (text.size() > WorkspaceConfigLimits::kBytesMax) {
        Diagnostic problem{
            .code = "limit_exceeded",
            .message = fmt::format(
                "{} is larger than {} bytes.",
                kWorkspaceConfigName,
                WorkspaceConfigLimits::kBytesMax
            ),
            .file = file
        };
        return {.problems = {std::move(problem)}};
    }
    return Reader(file).run(text);
}

}  // namespace ebb::source
