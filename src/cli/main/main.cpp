#include <csignal>
#include <string>
#include <vector>

#include "cli/run_cli.h"

int main(int argc, char** argv) {
    // A reader that goes away is found by the write, which fails with EPIPE.
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    ebb::cli::CliStreams streams = ebb::cli::system_streams();
    return ebb::cli::run_cli(args, streams);
}
