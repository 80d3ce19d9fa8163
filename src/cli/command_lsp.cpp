#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/definition_file.h"
#include "lsp/lsp.h"
#include "lsp/wire.h"

namespace ebb::cli {

namespace {

/// An editor that never pauses is answered all the same.
constexpr std::size_t kBatchMax = 1'000;

/// Methods and ids, but no text of a document.
class MessageLog {
 public:
    explicit MessageLog(const std::string& path) {
        if (path.empty()) return;
        file_.open(path, std::ios::app);
        if (!file_) {
            throw Error(
                ErrorCode::InvalidArgument, fmt::format("The log {} cannot be written.", path)
            );
        }
    }

    void write(std::string_view arrow, const Json& message) {
        if (!file_.is_open()) return;
        const auto part = [&message](const char* key) {
            return message.contains(key) ? message[key].dump() : std::string("-");
        };
        file_ << fmt::format("{} {} {}\n", arrow, part("method"), part("id")) << std::flush;
    }

 private:
    std::ofstream file_;
};

/// All messages that have come, at least one; empty at the end of the stream.
std::vector<Json> read_messages(CliStreams& streams, lsp::FrameReader& frames, Session& session) {
    std::vector<Json> messages;
    bool may_wait = true;
    while (true) {
        while (auto content = frames.next()) {
            auto message = lsp::parse_message(*content);
            // A broken message is answered like one without a method.
            messages.push_back(message ? std::move(*message) : Json());
        }
        if (frames.is_broken()) {
            session.note("The editor sent what is not a message with a Content-Length.\n");
            return {};
        }
        if (messages.size() >= kBatchMax) return messages;
        if (!messages.empty()) may_wait = false;
        const std::string bytes = streams.read_some(may_wait);
        if (bytes.empty()) return messages;
        frames.feed(bytes);
    }
}

}  // namespace

int serve_editor(Session& session, const LspOptions& options) {
    MessageLog log(options.log);
    lsp::Server server({.version = EBB_VERSION, .types = read_types(session)});
    lsp::FrameReader frames;
    CliStreams& streams = session.streams();
    const auto send = [&](const std::vector<Json>& messages) {
        std::string bytes;
        for (const Json& message : messages) {
            log.write("<-", message);
            bytes += lsp::frame(message);
        }
        if (!bytes.empty()) streams.out.write(bytes);
    };
    while (!server.is_over()) {
        const std::vector<Json> messages = read_messages(streams, frames, session);
        if (messages.empty()) break;
        for (const Json& message : messages) log.write("->", message);
        send(server.handle_all(messages));
        send(server.idle());
    }
    return server.exit_code();
}

}  // namespace ebb::cli
