#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/diagnostics.h"
#include "lsp/lsp.h"
#include "lsp/uri.h"
#include "lsp/wire.h"
#include "support/json.h"

namespace ebb::lsp {

namespace {

/// A request that cannot be answered, with the reason for a person.
struct Refusal {
    RpcError code;
    std::string message;
};

std::string text_at(const Json& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
}

std::string method_of(const Json& message) {
    return text_at(message, "method");
}

bool is_request(const Json& message) {
    return message.is_object() && message.contains("id") && message.contains("method");
}

std::string uri_of(const Json& params) {
    const auto found = params.is_object() ? params.find("textDocument") : params.end();
    return params.is_object() && found != params.end() ? text_at(*found, "uri") : std::string();
}

const Json& params_of(const Json& message) {
    static const Json kNone = Json::object();
    const auto found = message.find("params");
    return found == message.end() ? kNone : *found;
}

/// What is wrong with the `position` of a request, also of one about a document that is not open.
std::string fault_of_position(const Json& params) {
    const auto position = params.is_object() ? params.find("position") : params.end();
    if (!params.is_object() || position == params.end()) return {};
    const auto is_count = [&position](const char* key) {
        const auto found = position->find(key);
        return found != position->end() && found->is_number_integer() && *found >= 0;
    };
    const bool is_right = position->is_object() && is_count("line") && is_count("character");
    return is_right ? std::string()
                    : "\"position\" must be an object whose \"line\" and \"character\" are whole "
                      "numbers from 0.";
}

/// Which requests of a batch a later message makes pointless.
class Overtaken {
 public:
    explicit Overtaken(std::span<const Json> messages) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const std::string method = method_of(messages[i]);
            if (method == "$/cancelRequest") {
                const Json& params = params_of(messages[i]);
                if (params.is_object() && params.contains("id")) {
                    cancelled_[to_text(params["id"])] = i;
                }
            } else if (method == "textDocument/didChange") {
                changed_[uri_of(params_of(messages[i]))] = i;
            }
        }
    }

    std::optional<Refusal> refusal(const Json& message, std::size_t at) const {
        if (!is_request(message)) return std::nullopt;
        const auto cancelled = cancelled_.find(to_text(message["id"]));
        if (cancelled != cancelled_.end() && cancelled->second > at) {
            return Refusal{RpcError::RequestCancelled, "The request was cancelled."};
        }
        const auto changed = changed_.find(uri_of(params_of(message)));
        if (changed != changed_.end() && changed->second > at) {
            return Refusal{RpcError::ContentModified, "The text has changed since the request."};
        }
        return std::nullopt;
    }

 private:
    std::map<std::string, std::size_t> cancelled_;
    std::map<std::string, std::size_t> changed_;
};

}  // namespace

Server::Server(ServerOptions options) : options_(std::move(options)) {}

Server::~Server() = default;

const std::map<std::string_view, Server::Request>& Server::requests() {
    static const std::map<std::string_view, Request> kRequests = {
        {"initialize", &Server::initialize},
        {"shutdown", &Server::shut_down},
        {"textDocument/completion", &Server::complete},
        {"textDocument/hover", &Server::hover},
        {"textDocument/definition", &Server::find_definition},
        {"textDocument/references", &Server::find_references},
        {"textDocument/documentHighlight", &Server::highlight},
        {"textDocument/prepareRename", &Server::prepare_rename},
        {"textDocument/rename", &Server::rename},
        {"textDocument/documentSymbol", &Server::list_symbols},
        {"textDocument/foldingRange", &Server::list_folds},
        {"textDocument/codeAction", &Server::list_actions},
        {"textDocument/semanticTokens/full", &Server::list_tokens},
        {"textDocument/inlayHint", &Server::list_hints},
        {"textDocument/signatureHelp", &Server::help_signature},
        {"textDocument/formatting", &Server::format},
        {"textDocument/onTypeFormatting", &Server::format_line},
        {"textDocument/codeLens", &Server::list_lenses},
        {"textDocument/semanticTokens/range", &Server::list_tokens_in_range},
        {"textDocument/selectionRange", &Server::list_selections},
        {"textDocument/documentLink", &Server::list_links},
        {"workspace/symbol", &Server::find_symbols},
        {"ebb/diagram", &Server::draw},
        {"ebb/expand", &Server::expand},
        {"ebb/definitionJson", &Server::tell_definition},
        {"ebb/evaluate", &Server::evaluate},
        {"ebb/kindOf", &Server::tell_kind},
        {"ebb/samples", &Server::list_samples},
    };
    return kRequests;
}

std::vector<Json> Server::handle_all(std::span<const Json> messages) {
    out_.clear();
    const Overtaken overtaken(messages);
    for (std::size_t i = 0; i < messages.size() && !is_over_; ++i) {
        if (const auto refusal = overtaken.refusal(messages[i], i)) {
            out_.push_back(make_error(messages[i]["id"], refusal->code, refusal->message));
            continue;
        }
        handle_one(messages[i]);
    }
    return std::move(out_);
}

void Server::handle_one(const Json& message) {
    if (message.is_discarded()) {
        const std::string text = fmt::format(
            "The message is not JSON, or is nested more than {} deep.", WireLimits::kJsonDepthMax
        );
        out_.push_back(make_error(Json(), RpcError::ParseError, text));
        return;
    }
    const std::string method = method_of(message);
    if (method.empty()) {
        const bool is_response = message.is_object() && message.contains("id") &&
                                 (message.contains("result") || message.contains("error"));
        if (is_response) return;
        const Json id = message.is_object() ? message.value("id", Json()) : Json();
        out_.push_back(make_error(id, RpcError::InvalidRequest, "The message has no method."));
        return;
    }
    if (!is_request(message)) return note(method, params_of(message));
    answer(message["id"], method, params_of(message));
}

void Server::answer(const Json& id, std::string_view method, const Json& params) {
    const auto found = requests().find(method);
    if (is_shut_down_) {
        out_.push_back(make_error(
            id, RpcError::InvalidRequest, "The server was shut down: only `exit` may follow."
        ));
    } else if (!is_initialized_ && method != "initialize") {
        out_.push_back(
            make_error(id, RpcError::ServerNotInitialized, "The first request is `initialize`.")
        );
    } else if (is_initialized_ && method == "initialize") {
        out_.push_back(
            make_error(id, RpcError::InvalidRequest, "The server is already initialized.")
        );
    } else if (found == requests().end()) {
        out_.push_back(make_error(
            id, RpcError::MethodNotFound, fmt::format("There is no method \"{}\".", method)
        ));
    } else if (const std::string fault = fault_of_position(params); !fault.empty()) {
        out_.push_back(make_error(id, RpcError::InvalidParams, fault));
    } else {
        try {
            out_.push_back(make_response(id, (this->*found->second)(params)));
        } catch (const Error& error) {
            out_.push_back(make_error(id, RpcError::RequestFailed, error.what()));
        } catch (const Json::exception& error) {
            // A member that is missing or has another type than the protocol says.
            out_.push_back(make_error(id, RpcError::InvalidParams, error.what()));
        }
    }
}

void Server::note(std::string_view method, const Json& params) {
    if (method == "exit") {
        is_over_ = true;
    } else if (!is_initialized_) {
        return;
    } else if (method == "textDocument/didOpen") {
        open(params);
    } else if (method == "textDocument/didChange") {
        change(params);
    } else if (method == "textDocument/didClose") {
        close(params);
    } else if (method == "workspace/didChangeConfiguration") {
        configure(params);
    } else if (method == "workspace/didChangeWorkspaceFolders") {
        change_folders(params);
    } else if (method == "workspace/didChangeWatchedFiles") {
        note_changed_files(params);
    } else if (method == "initialized" && can_register_) {
        watch_files();
    }
}

Json Server::initialize(const Json& params) {
    is_initialized_ = true;
    const Json::json_pointer kEncodings("/capabilities/general/positionEncodings");
    if (params.is_object() && params.contains(kEncodings) && params[kEncodings].is_array()) {
        for (const Json& offered : params[kEncodings]) {
            if (offered == "utf-8") encoding_ = Encoding::Utf8;
        }
    }
    const auto process = params.is_object() ? params.find("processId") : params.end();
    if (params.is_object() && process != params.end() && process->is_number_integer()) {
        client_process_ = process->get<std::int64_t>();
    }
    read_folders(params);
    if (params.is_object() && params.contains("initializationOptions")) {
        read_settings(params["initializationOptions"]);
    }
    const Json::json_pointer kSnippets(
        "/capabilities/textDocument/completion/completionItem/snippetSupport"
    );
    takes_snippets_ = params.is_object() && params.contains(kSnippets) && params[kSnippets] == true;
    const Json::json_pointer kEdit("/capabilities/workspace/workspaceEdit");
    if (params.is_object() && params.contains(kEdit) && params[kEdit].is_object()) {
        const Json& edit = params[kEdit];
        const bool has_versions = edit.value("documentChanges", Json()) == true;
        can_annotate_ = has_versions && edit.value("changeAnnotationSupport", Json()).is_object();
        const Json operations = edit.value("resourceOperations", Json::array());
        can_create_files_ =
            has_versions &&
            std::find(operations.begin(), operations.end(), Json("create")) != operations.end();
    }
    read_commands(params);
    Json capabilities = {
        {"positionEncoding", encoding_ == Encoding::Utf8 ? "utf-8" : "utf-16"},
        {"textDocumentSync", {{"openClose", true}, {"change", 2}}},
        {"completionProvider", {{"triggerCharacters", {".", "{", " ", "\"", "'", "["}}}},
        {"hoverProvider", true},
        {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
        {"inlayHintProvider", true},
        {"definitionProvider", true},
        {"referencesProvider", true},
        {"documentHighlightProvider", true},
        {"renameProvider", {{"prepareProvider", true}}},
        {"documentSymbolProvider", true},
        {"workspaceSymbolProvider", true},
        {"foldingRangeProvider", true},
        {"selectionRangeProvider", true},
        {"documentLinkProvider", {{"resolveProvider", false}}},
        {"documentFormattingProvider", true},
        {"documentOnTypeFormattingProvider", {{"firstTriggerCharacter", "\n"}}},
        {"codeActionProvider",
         {{"codeActionKinds",
           {"quickfix", "refactor.rewrite", "refactor.extract", "source.fixAll.ebb"}}}},
        {"semanticTokensProvider", {{"legend", token_legend()}, {"full", true}, {"range", true}}},
        {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}},
    };
    if (!commands_.empty()) capabilities["codeLensProvider"] = {{"resolveProvider", false}};
    return {
        {"capabilities", std::move(capabilities)},
        {"serverInfo", {{"name", "ebb"}, {"version", options_.version}}}
    };
}

Json Server::shut_down(const Json&) {
    is_shut_down_ = true;
    return nullptr;
}

void Server::open(const Json& params) {
    const std::string uri = uri_of(params);
    if (uri.empty()) return;
    if (!workspace_.with_cpp && source::is_cpp_name(uri)) return;
    const Json& opened = params["textDocument"];
    auto document = std::make_unique<Document>(uri, text_at(opened, "text"), encoding_);
    const auto version = opened.find("version");
    if (version != opened.end() && version->is_number_integer()) {
        document->version = version->get<std::int64_t>();
    }
    if (!document->is_cpp() && document->text().size() > DocumentLimits::kBytesMax) {
        out_.push_back(make_notification(
            "window/showMessage",
            {{"type", 2},
             {"message",
              fmt::format(
                  "The file is larger than {} MiB: Ebb does not look at it.",
                  DocumentLimits::kBytesMax >> 20
              )}}
        ));
    }
    documents_[uri] = std::move(document);
}

void Server::change(const Json& params) {
    const auto found = documents_.find(uri_of(params));
    if (found == documents_.end()) return;
    Document& document = *found->second;
    const Json& identifier = params["textDocument"];
    const auto version = identifier.find("version");
    if (version != identifier.end() && version->is_number_integer()) {
        document.version = version->get<std::int64_t>();
    }
    const auto changes = params.find("contentChanges");
    if (changes == params.end() || !changes->is_array()) return;
    for (const Json& change : *changes) {
        if (!document.apply(change)) return;
    }
}

void Server::close(const Json& params) {
    const auto found = documents_.find(uri_of(params));
    if (found == documents_.end()) return;
    if (found->second->has_published) {
        out_.push_back(make_notification(
            "textDocument/publishDiagnostics",
            {{"uri", found->first}, {"diagnostics", Json::array()}}
        ));
    }
    // From now on the file counts as it is on disk.
    if (const std::string path = path_of_uri(found->first); !path.empty()) {
        changed_files_.push_back(path);
    }
    documents_.erase(found);
}

void Server::read_docs(const Json& settings) {
    const auto docs = settings.find("docs");
    if (docs == settings.end() || !docs->is_string() || *docs == docs_) return;
    docs_ = docs->get<std::string>();
    for (auto& [uri, document] : documents_) document->is_dirty = true;
}

void Server::configure(const Json& params) {
    const Json::json_pointer kSettings("/settings/ebb");
    if (params.contains(kSettings)) read_settings(params[kSettings]);
}

std::vector<Json> Server::idle() {
    out_.clear();
    judge_handlers_again();
    for (auto& [uri, document] : documents_) {
        if (document->is_dirty) publish(*document);
        if (!std::exchange(document->is_picture_old, false)) continue;
        out_.push_back(make_notification(
            "ebb/didChangeDiagram",
            {{"textDocument", {{"uri", uri}, {"version", document->version}}}}
        ));
    }
    return std::move(out_);
}

void Server::publish(Document& document) {
    document.is_dirty = false;
    const bool is_ours =
        document.kind() != source::TextKind::Other || !document.cpp().workflows.empty();
    if (!is_ours && !document.has_published) return;
    Json diagnostics = is_ours ? diagnostics_json(document, settings()) : Json::array();
    document.has_published = is_ours;
    out_.push_back(make_notification(
        "textDocument/publishDiagnostics",
        {{"uri", document.uri()},
         {"version", document.version},
         {"diagnostics", std::move(diagnostics)}}
    ));
}

Document* Server::document_of(const Json& params) {
    Document* document = open_document_of(params);
    const bool is_ours = document != nullptr && document->kind() != source::TextKind::Other;
    return is_ours ? document : nullptr;
}

Document* Server::open_document_of(const Json& params) {
    const auto found = documents_.find(uri_of(params));
    return found == documents_.end() ? nullptr : found->second.get();
}

Document* Server::cpp_document_of(const Json& params) {
    Document* document = open_document_of(params);
    return document == nullptr || !document->is_cpp() ? nullptr : document;
}

Document* Server::either_document_of(const Json& params) {
    Document* cpp = cpp_document_of(params);
    return cpp != nullptr ? cpp : document_of(params);
}

Json Server::tell_kind(const Json& params) {
    const auto found = documents_.find(uri_of(params));
    if (found == documents_.end()) return "other";
    const source::CppFile& cpp = found->second->cpp();
    if (!cpp.workflows.empty() || !cpp.handlers.empty()) return "cpp";
    switch (found->second->kind()) {
        case source::TextKind::Workflow:
            return "workflow";
        case source::TextKind::Types:
            return "types";
        case source::TextKind::Other:
            break;
    }
    return "other";
}

}  // namespace ebb::lsp
