#include "handlers/spec.h"

#include <array>

#include <fmt/format.h>

#include "handlers/spec_reader.h"

namespace ebb {

namespace {

HandlerSpec read_spec(
    const Json& entry,
    const HandlerContract& contract,
    const std::string& path,
    const std::filesystem::path& base_directory,
    std::vector<Diagnostic>& problems
) {
    SpecReader reader(entry, path, problems);
    const bool has_exec = entry.contains("exec");
    const Json* http = reader.find("http");
    if (has_exec && http != nullptr) {
        reader.note("conflicting_keys", "", "A handler is either \"exec\" or \"http\", not both.");
        return {};
    }
    if (has_exec) return read_exec_spec(reader, base_directory);
    if (http != nullptr) {
        reader.allow_only_of_entry({"http"});
    } else {
        reader.allow_only_of_entry({"exec", "http"});
    }
    if (http == nullptr) {
        // The contract of a handler that the application registers.
        if (!contract.is_empty()) return {};
        reader.note(
            "missing_key",
            "",
            "A handler needs \"exec\" (a program to run) or \"http\" (a call). An entry for a "
            "handler in C++ needs \"input_schema\", \"output_schema\", \"defaults\" or \"result\"."
        );
        return {};
    }
    if (!http->is_object()) {
        reader.note("wrong_type", "/http", "\"http\" must be an object with at least \"url\".");
        return {};
    }
    SpecReader http_reader(*http, path + "/http", problems);
    return read_http_spec(http_reader, base_directory);
}

}  // namespace

HandlerEntry parse_handler_spec(
    const std::string& name,
    const Payload& text,
    const std::filesystem::path& base_directory,
    std::vector<Diagnostic>& problems
) {
    const std::string path = "/handlers/" + escape_pointer(name);
    const std::size_t problems_before = problems.size();
    Json entry;
    try {
        entry = parse_json(text, fmt::format("The handler entry \"{}\"", name));
    } catch (const Error& error) {
        problems.push_back({.code = "invalid_json", .path = path, .message = error.what()});
        return {};
    }
    if (!entry.is_object()) {
        problems.push_back(
            {.code = "wrong_type",
             .path = path,
             .message = "A handler entry must be an object with \"exec\" or \"http\"."}
        );
        return {};
    }
    HandlerEntry read{.spec = {}, .contract = take_contract(entry, path, problems)};
    read.spec = read_spec(entry, read.contract, path, base_directory, problems);
    return problems.size() == problems_before ? std::move(read) : HandlerEntry();
}

}  // namespace ebb
