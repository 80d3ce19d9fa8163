// A session with the language server: the input is a text and edits of it. Every answer belongs to
// a request, and every range lies in the text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "lsp/lsp.h"

namespace {

using ebb::Json;

void require(bool condition) {
    if (!condition) __builtin_trap();
}

Json message(const char* method, Json params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

/// Each range of the answer, at any depth.
void check_ranges(const Json& answer, const ebb::lsp::LineIndex& lines) {
    if (answer.is_object() && answer.contains("start") && answer.contains("end")) {
        const auto line = answer["end"]["line"].get<std::size_t>();
        const auto start = answer["start"]["line"].get<std::size_t>();
        require(line < lines.line_count() && start <= line);
        require(answer["end"]["character"].get<std::size_t>() <= lines.line(line).size());
    }
    if (!answer.is_structured()) return;
    for (const Json& part : answer) check_ranges(part, lines);
}

void ask_all(const std::string& text, const std::string& name) {
    ebb::lsp::Server server;
    Json initialize = message("initialize", {{"capabilities", Json::object()}});
    initialize["id"] = 0;
    server.handle(initialize);
    server.take_file("/other.cpp", text);
    server.take_file("/other.ebb.yaml", text);
    const std::string uri = "file:///" + name;
    server.handle(message(
        "textDocument/didOpen", {{"textDocument", {{"uri", uri}, {"version", 1}, {"text", text}}}}
    ));
    const ebb::lsp::LineIndex lines(text, ebb::lsp::Encoding::Utf16);
    for (const Json& published : server.idle()) check_ranges(published, lines);
    int id = 0;
    for (const char* method :
         {"textDocument/completion",
          "textDocument/hover",
          "textDocument/definition",
          "textDocument/references",
          "textDocument/documentSymbol",
          "textDocument/foldingRange",
          "textDocument/formatting",
          "textDocument/semanticTokens/full",
          "textDocument/selectionRange",
          "textDocument/documentLink",
          "workspace/symbol",
          "ebb/evaluate",
          "ebb/diagram"}) {
        for (const std::size_t at : {text.size() / 3, text.size()}) {
            Json asked = message(
                method,
                {{"textDocument", {{"uri", uri}}},
                 {"position", ebb::lsp::to_json(lines.position(at))},
                 {"positions", Json::array({ebb::lsp::to_json(lines.position(at))})},
                 {"query", text.substr(0, 3)}}
            );
            asked["id"] = ++id;
            const auto answers = server.handle(asked);
            require(answers.size() == 1 && answers[0]["id"] == id);
            // Code without a workflow, and what is none, has no picture.
            require(answers[0].contains("result") || std::string_view(method) == "ebb/diagram");
            // All three texts are the same. Values of expressions can look like anything.
            const bool has_values = std::string_view(method) == "ebb/evaluate";
            const Json result = answers[0].value("result", Json());
            if (has_values && result.is_object()) check_ranges(result["range"], lines);
            if (!has_values) check_ranges(result, lines);
        }
    }
    server.drop_file("/other.cpp");
    server.handle(message("textDocument/didClose", {{"textDocument", {{"uri", uri}}}}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 16'384) return 0;
    const std::string text(reinterpret_cast<const char*>(data), size);
    // What is not UTF-8 cannot be a JSON string, so no editor sends it.
    if (Json(text).dump(-1, ' ', false, Json::error_handler_t::replace) !=
        Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore)) {
        return 0;
    }
    // The same bytes as a workflow and as code in C++, each with the other one in the workspace.
    for (const char* name : {"fuzz.ebb.yaml", "fuzz.cpp"}) ask_all(text, name);
    return 0;
}
