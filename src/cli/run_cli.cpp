#include "cli/run_cli.h"

#include <utility>

#include <fmt/format.h>

#include "cli/app.h"
#include "cli/report.h"

namespace ebb::cli {

namespace {

int run_request(CliStreams& streams, CommandLine::Request request) {
    Session session(streams, std::move(request.global));
    try {
        if (request.action) return request.action(session);
        session.print(request.text);
        return kOk;
    } catch (...) {
        return report_failure(session, std::current_exception());
    }
}

int tell_mistake(
    CliStreams& streams, const GlobalOptions& global, const CommandLine::Mistake& mistake
) {
    Session session(streams, global);
    return complain(
        session,
        {.exit_code = kUsage, .code = "usage", .message = mistake.message, .hint = mistake.hint}
    );
}

}  // namespace

int run_cli(std::span<const std::string> args, CliStreams& streams) {
    try {
        CommandLine command_line;
        CommandLine::Request request;
        try {
            request = command_line.parse(args);
        } catch (const CommandLine::Mistake& mistake) {
            return tell_mistake(streams, command_line.global(), mistake);
        }
        return run_request(streams, std::move(request));
    } catch (const OutputClosed&) {
        return kOutputClosed;
    } catch (const std::exception&) {
        // Not even the complaint could be written.
        return kOutput;
    }
}

}  // namespace ebb::cli
