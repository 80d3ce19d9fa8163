#include "client.h"

#include <algorithm>

namespace ebb::lsp::test {

Json request(int id, const std::string& method, Json params) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

Json notification(const std::string& method, Json params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

Client::Client(std::string_view encoding, Snippets snippets)
    : encoding_(encoding == "utf-8" ? Encoding::Utf8 : Encoding::Utf16) {
    Json params = {{"capabilities", {{"general", {{"positionEncodings", {encoding}}}}}}};
    if (snippets == Snippets::Known) {
        const Json::json_pointer kSnippets(
            "/capabilities/textDocument/completion/completionItem/snippetSupport"
        );
        params[kSnippets] = true;
    }
    initialized = send(request(++id_, "initialize", std::move(params))).at(0);
    send(notification("initialized", Json::object()));
}

std::vector<Json> Client::send(const Json& message) {
    std::vector<Json> answers = server_.handle(message);
    for (const Json& published : server_.idle()) {
        const bool is_list = published["method"] == "textDocument/publishDiagnostics";
        if (is_list) diagnostics_ = published["params"]["diagnostics"];
        answers.push_back(published);
    }
    return answers;
}

std::vector<Json> Client::open(std::string_view marked, const std::string& uri) {
    text_ = marked;
    mark_ = text_.find('|');
    if (mark_ == std::string::npos) {
        mark_ = 0;
    } else {
        text_.erase(mark_, 1);
    }
    const bool is_open = uri_ == uri;
    uri_ = uri;
    ++version_;
    if (is_open) {
        return send(notification(
            "textDocument/didChange",
            {{"textDocument", {{"uri", uri}, {"version", version_}}},
             {"contentChanges", {{{"text", text_}}}}}
        ));
    }
    return send(notification(
        "textDocument/didOpen",
        {{"textDocument",
          {{"uri", uri}, {"languageId", "ebb"}, {"version", version_}, {"text", text_}}}}
    ));
}

Json Client::ask(const std::string& method, Json params) {
    const LineIndex lines(text_, encoding_);
    params["textDocument"] = {{"uri", uri_}};
    if (!params.contains("position")) params["position"] = to_json(lines.position(mark_));
    for (const Json& answer : send(request(++id_, method, std::move(params)))) {
        if (answer.contains("id") && answer["id"] == id_) {
            return answer.contains("result") ? answer["result"] : answer["error"];
        }
    }
    return nullptr;
}

std::vector<std::string> Client::labels() {
    std::vector<std::string> labels;
    const Json list = ask("textDocument/completion");
    for (const Json& item : list["items"]) labels.push_back(item["label"].get<std::string>());
    return labels;
}

std::string Client::text_at(const Json& range) const {
    const LineIndex lines(text_, encoding_);
    const auto offset = [&](const Json& place) {
        return lines.offset(
            {.line = place["line"].get<std::size_t>(),
             .character = place["character"].get<std::size_t>()}
        );
    };
    const std::size_t begin = offset(range["start"]);
    return text_.substr(begin, offset(range["end"]) - begin);
}

std::string Client::after(const Json& edit) const {
    const LineIndex lines(text_, encoding_);
    std::vector<Json> edits = edit["changes"][uri_].get<std::vector<Json>>();
    const auto offset = [&](const Json& place) {
        return lines.offset(
            {.line = place["line"].get<std::size_t>(),
             .character = place["character"].get<std::size_t>()}
        );
    };
    std::sort(edits.begin(), edits.end(), [&](const Json& a, const Json& b) {
        return offset(a["range"]["start"]) > offset(b["range"]["start"]);
    });
    std::string text = text_;
    for (const Json& one : edits) {
        const std::size_t begin = offset(one["range"]["start"]);
        const std::size_t end = offset(one["range"]["end"]);
        text.replace(begin, end - begin, one["newText"].get<std::string>());
    }
    return text;
}

}  // namespace ebb::lsp::test
