#include <cstdio>
#include <string>
#include <vector>

#include "cli/cli.h"

int main(int count, char** values) {
    const std::vector<std::string> arguments(values + 1, values + count);
    ebb::cli::Terminal terminal(stdout, stderr);
    return ebb::cli::run_cli(arguments, terminal);
}
