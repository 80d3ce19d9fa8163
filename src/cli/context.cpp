#include "cli/context.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/handlers.h>
#include <ebb/yaml.h>

#include "store/store.h"
#include "support/json.h"

namespace ebb::cli {

StorePtr open_store(const std::string& url) {
    if (url == "memory:") return open_memory_store();
    if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        throw Error(
            ErrorCode::InvalidArgument,
            "This build of ebb has no PostgreSQL store; use --db sqlite:FILE."
        );
    }
    std::string path = url;
    if (path.starts_with("sqlite:")) {
        path.erase(0, 7);
        if (path.starts_with("//")) path.erase(0, 2);
    } else if (const auto colon = path.find("://"); colon != std::string::npos) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}\" is no kind of store; known are memory: and sqlite:FILE.",
                path.substr(0, colon)
            )
        );
    }
    if (path.empty())
        throw Error(ErrorCode::InvalidArgument, "sqlite: needs the path of a file: sqlite:ebb.db.");
    return open_sqlite_store({.path = path});
}

StorePtr open_kept_store(const Context& context, std::string_view command) {
    const std::string& url = context.options.database;
    if (url.empty()) {
        throw UsageError{fmt::format(
            "\"ebb {}\" needs a database: give --db sqlite:FILE, or set EBB_DB once for all "
            "commands.",
            command
        )};
    }
    if (url == "memory:") {
        throw UsageError{fmt::format(
            "\"ebb {}\" looks into what other processes do, and memory: is gone with its process; "
            "use --db sqlite:FILE.",
            command
        )};
    }
    return open_store(url);
}

namespace {

bool is_id_prefix(const std::string& text) {
    return text.size() >= 4 && text.size() <= 36 &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                      c == '-';
           });
}

/// Ids of version 7 begin with the time, so those that begin alike lie side by side.
std::vector<InstanceSummary> instances_with_prefix(Engine& engine, const std::string& prefix) {
    std::string above = prefix;
    for (std::size_t i = prefix.size(); i < 36; ++i)
        above += i == 8 || i == 13 || i == 18 || i == 23 ? '-' : 'f';
    ListOptions options{.before = InstanceId::parse(above), .limit = 10};
    std::vector<InstanceSummary> found;
    if (const auto exact = engine.find(*options.before)) found.push_back(*exact);
    for (InstanceSummary& instance : engine.list(options)) {
        if (instance.id.to_string().starts_with(prefix)) found.push_back(std::move(instance));
    }
    return found;
}

InstanceId resolve_key(Engine& engine, const std::string& text) {
    const auto slash = text.find('/');
    if (slash == std::string::npos) throw UsageError{"A key is written key:WORKFLOW/KEY."};
    const std::string workflow = text.substr(4, slash - 4);
    const std::string key = text.substr(slash + 1);
    if (const auto id = engine.find_key(workflow, key)) return *id;
    throw Error(
        ErrorCode::InstanceNotFound,
        fmt::format("The workflow \"{}\" has no instance with the key \"{}\".", workflow, key)
    );
}

}  // namespace

InstanceId resolve_instance(Engine& engine, const std::string& text) {
    if (text.starts_with("key:")) return resolve_key(engine, text);
    if (const auto id = InstanceId::parse(text)) {
        if (engine.find(*id)) return *id;
        throw Error(ErrorCode::InstanceNotFound, fmt::format("There is no instance {}.", text));
    }
    if (!is_id_prefix(text)) {
        throw UsageError{fmt::format(
            "\"{}\" is no instance: give its id, at least its first 4 characters, or "
            "key:WORKFLOW/KEY.",
            text
        )};
    }
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    });
    const auto found = instances_with_prefix(engine, lower);
    if (found.empty()) {
        throw Error(
            ErrorCode::InstanceNotFound, fmt::format("No instance's id begins with \"{}\".", text)
        );
    }
    if (found.size() == 1) return found.front().id;
    std::string message = fmt::format("Several ids begin with \"{}\":", text);
    for (const InstanceSummary& instance : found) {
        message += fmt::format(
            "\n  {}  {} {}", instance.id.to_string(), instance.workflow, instance.status
        );
    }
    throw UsageError{message};
}

namespace {

std::string read_all(std::FILE* file) {
    std::string text;
    char buffer[65'536];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
        text.append(buffer, got);
    return text;
}

std::string read_file(const std::string& path, std::string_view what) {
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path, ignored)) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("Cannot read {} from \"{}\".", what, path)
        );
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Payload read_payload_argument(const std::string& argument, std::string_view what) {
    std::string text = argument;
    if (argument == "-") text = read_all(stdin);
    if (argument.starts_with('@')) text = read_file(argument.substr(1), what);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    check_payload(text, fmt::format("The {}", what));
    return text;
}

LoadedWorkflow load_workflow(const std::string& file) {
    LoadedWorkflow loaded{.definition = {}, .file = file, .text = read_file(file, "a workflow")};
    loaded.definition = load_definition(file);
    return loaded;
}

void add_handlers(HandlerRegistry& registry, const std::vector<LoadedWorkflow>& workflows) {
    std::vector<DefinitionSource> sources;
    for (const LoadedWorkflow& workflow : workflows) {
        sources.push_back(
            {&workflow.definition,
             workflow.file.empty() ? "." : std::filesystem::absolute(workflow.file).parent_path()}
        );
    }
    register_definition_handlers(registry, sources);
}

bool is_definition_file(std::string_view text) {
    return text.ends_with(".yaml") || text.ends_with(".yml") || text.ends_with(".json");
}

}  // namespace ebb::cli
