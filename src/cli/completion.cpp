#include <fmt/format.h>

#include "cli/cli.h"

namespace ebb::cli {

namespace {

constexpr std::string_view kBash = R"sh(_ebb() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "{}" -- "$word")
        return
    fi
    case "${{COMP_WORDS[1]}}" in
        run | validate | worker | diagram) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        decide)
            if [ "$COMP_CWORD" -eq 3 ]; then
                mapfile -t COMPREPLY < <(compgen -W "confirm reject" -- "$word")
                return
            fi
            mapfile -t COMPREPLY < <(compgen -W "$(ebb list --ids 2>/dev/null)" -- "$word")
            ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$(ebb list --ids 2>/dev/null)" -- "$word") ;;
    esac
}}
complete -F _ebb ebb
)sh";

constexpr std::string_view kZsh = R"sh(#compdef ebb
_ebb() {{
    if (( CURRENT == 2 )); then
        compadd -- {}
        return
    fi
    case "${{words[2]}}" in
        run|validate|worker|diagram) _files ;;
        *) compadd -- $(ebb list --ids 2>/dev/null) ;;
    esac
}}
compdef _ebb ebb
)sh";

}  // namespace

std::string completion_script(const std::string& shell, std::span<const std::string> commands) {
    std::string names;
    for (const std::string& command : commands) names += (names.empty() ? "" : " ") + command;
    if (shell == "bash") return fmt::format(kBash, names);
    if (shell == "zsh") return fmt::format(kZsh, names);
    std::string fish = "complete -c ebb -f\n";
    for (const std::string& command : commands) {
        fish += fmt::format("complete -c ebb -n __fish_use_subcommand -a {}\n", command);
    }
    return fish +
           "complete -c ebb -n 'not __fish_use_subcommand' -a '(ebb list --ids 2>/dev/null)'\n"
           "complete -c ebb -n '__fish_seen_subcommand_from run validate worker diagram' -F\n";
}

}  // namespace ebb::cli
