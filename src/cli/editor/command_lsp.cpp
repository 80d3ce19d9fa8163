#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "cli/commands.h"
#include "cli/definition_file.h"
#include "cli/editor/workspace_files.h"
#include "lsp/lsp.h"
#include "lsp/uri.h"
#include "lsp/wire.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;

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

/// Does a process that the editor has named as its own live no more?
bool has_ended(std::int64_t process) {
    const auto pid = static_cast<pid_t>(process);
    return process > 0 && pid == process && ::kill(pid, 0) != 0 && errno == ESRCH;
}

/// All messages that have come. If it may wait, at least one, and none at the end of the stream or
/// of the editor.
std::vector<Json> read_messages(
    Session& session, const lsp::Server& server, lsp::FrameReader& frames, bool may_wait
) {
    CliStreams& streams = session.streams();
    std::vector<Json> messages;
    while (true) {
        while (auto content = frames.next()) {
            auto message = lsp::parse_message(*content);
            messages.push_back(message ? std::move(*message) : lsp::no_message());
        }
        if (frames.is_broken()) {
            session.note("The editor sent what is not a message with a Content-Length.\n");
            return {};
        }
        if (messages.size() >= kBatchMax) return messages;
        if (!messages.empty()) may_wait = false;
        const std::string bytes =
            streams.read_some(may_wait, [&server] { return has_ended(server.client_process()); });
        if (bytes.empty()) return messages;
        frames.feed(bytes);
    }
}

/// The pages that were installed beside this command, as a URL; empty if there are none.
std::string installed_docs() {
    std::error_code error;
    const fs::path command = fs::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const fs::path docs = command.parent_path().parent_path() / "share/doc/ebb/docs";
    const bool is_there = fs::is_regular_file(docs / "reference/definition.md", error);
    return is_there ? lsp::uri_of_path(docs.string()) : std::string();
}

std::vector<Json> warnings(const std::vector<std::string>& texts) {
    constexpr int kWarning = 2;
    std::vector<Json> messages;
    for (const std::string& text : texts) {
        messages.push_back(
            lsp::make_notification("window/showMessage", {{"type", kWarning}, {"message", text}})
        );
    }
    return messages;
}

}  // namespace

int serve_editor(Session& session, const LspOptions& options) {
    MessageLog log(options.log);
    lsp::Server server(
        {.version = EBB_VERSION,
         .types = read_types(session.options().types),
         .docs = installed_docs()}
    );
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
    WorkspaceFiles files(server, session.options().types);
    while (!server.is_over()) {
        // The files of the workspace are read while no message is waiting.
        const bool may_wait = !files.has_work();
        const std::vector<Json> messages = read_messages(session, server, frames, may_wait);
        if (messages.empty() && (may_wait || frames.is_broken())) break;
        for (const Json& message : messages) log.write("->", message);
        if (!messages.empty()) {
            send(server.handle_all(messages));
        } else {
            send(warnings(files.step()));
        }
        server.set_files_read(files.has_read());
        send(server.idle());
    }
    return server.exit_code();
}

}  // namespace ebb::cli
