#include "cli/completion.h"

#include <algorithm>

#include <fmt/format.h>

namespace ebb::cli {

namespace {

/// What follows a command or an option.
enum class Kind { Nothing, File, Instance, Subject, Workflow, Signal, Queue, Choice, Any };

Kind kind_of(const CommandInfo& command, const OptionInfo& option) {
    const auto is = [&](std::string_view name) {
        return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
    };
    if (!option.takes_value) return Kind::Nothing;
    if (!option.choices.empty()) return Kind::Choice;
    if (command.name == "signal" && is("NAME")) return Kind::Signal;
    if ((command.name == "queue" && is("NAME")) || is("--queues")) return Kind::Queue;
    if (is("FILE") || is("--output") || is("--db")) return Kind::File;
    if (is("INSTANCE") || is("--resume") || is("--before")) return Kind::Instance;
    if (is("SUBJECT")) return Kind::Subject;  // a file or an instance
    if (is("WORKFLOW") || is("--workflow")) return Kind::Workflow;
    return Kind::Any;
}

/// Files, and instances of the verbs that take several.
bool is_list(const CommandInfo& command, const OptionInfo& option) {
    const Kind kind = kind_of(command, option);
    return kind == Kind::File || (kind == Kind::Instance && option.is_list);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

std::string option_words(const CommandInfo& command) {
    std::vector<std::string> words;
    for (const OptionInfo& option : command.options) {
        if (option.is_positional) continue;
        words.insert(words.end(), option.names.begin(), option.names.end());
    }
    return joined(words, " ");
}

/// A text between single quotes, for all three shells.
std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::string bash_action(const CommandInfo& command, const OptionInfo& option) {
    switch (kind_of(command, option)) {
        case Kind::Choice:
            return fmt::format(
                "COMPREPLY=($(compgen -W {} -- \"$cur\"))",
                shell_quoted(joined(option.choices, " "))
            );
        case Kind::File:
            return "COMPREPLY=($(compgen -f -- \"$cur\"))";
        case Kind::Instance:
            return "COMPREPLY=($(compgen -W \"$(_ebb_ask instances $command)\" -- \"$cur\"))";
        case Kind::Subject:
            return "COMPREPLY=($(compgen -f -W \"$(_ebb_ask instances $command)\" -- \"$cur\"))";
        case Kind::Signal:
            return "COMPREPLY=($(compgen -W \"$(_ebb_ask signals \"$first\")\" -- \"$cur\"))";
        case Kind::Queue:
            return "COMPREPLY=($(compgen -W \"$(_ebb_ask queues)\" -- \"$cur\"))";
        case Kind::Workflow:
            return "COMPREPLY=($(compgen -f -W \"$(_ebb_workflows)\" -- \"$cur\"))";
        case Kind::Nothing:
        case Kind::Any:
            break;
    }
    return "COMPREPLY=()";
}

/// `value` cases: what the word before asks for.
std::string bash_values(const CommandInfo& command) {
    std::string text;
    for (const OptionInfo& option : command.options) {
        if (option.is_positional || !option.takes_value) continue;
        text += fmt::format(
            "        {}) {}; return ;;\n",
            (command.name.empty() ? "*:" : command.name + ":") +
                joined(option.names, command.name.empty() ? "|*:" : "|" + command.name + ":"),
            bash_action(command, option)
        );
    }
    return text;
}

std::string bash_positionals(const CommandInfo& command) {
    std::string text;
    int place = 0;
    for (const OptionInfo& option : command.options) {
        if (!option.is_positional) continue;
        text += fmt::format(
            "        {}:{}) {} ;;\n", command.name, place++, bash_action(command, option)
        );
    }
    // The last one may be given again if it is a list.
    for (const OptionInfo& option : command.options) {
        if (option.is_positional && is_list(command, option)) {
            text +=
                fmt::format("        {}:*) {} ;;\n", command.name, bash_action(command, option));
        }
    }
    return text;
}

constexpr std::string_view kBashHead = R"script(# bash completion of ebb
# Load it with:  source <(ebb completion bash)

# Asks the database of the command line, or else that of EBB_DB.
_ebb_ask() {
    local i db=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == --db ]] && db=(--db "${COMP_WORDS[i+1]}")
    done
    ebb "${db[@]}" __complete "$@" 2>/dev/null | cut -f1
}
_ebb_workflows() { ebb workflows --names 2>/dev/null; }

_ebb() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command='' first='' place=0 i word
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        -*) ;;
        *)
            case ${COMP_WORDS[i-1]} in
)script";

std::string bash_script(const std::vector<CommandInfo>& commands) {
    std::vector<std::string> names;
    std::vector<std::string> with_value;
    for (const CommandInfo& command : commands) {
        if (!command.name.empty()) names.push_back(command.name);
        for (const OptionInfo& option : command.options) {
            if (option.is_positional || !option.takes_value) continue;
            for (const std::string& name : option.names) {
                if (std::find(with_value.begin(), with_value.end(), name) == with_value.end()) {
                    with_value.push_back(name);
                }
            }
        }
    }
    std::string text(kBashHead);
    text += fmt::format("            {}) continue ;;\n            esac\n", joined(with_value, "|"));
    text +=
        "            if [[ -z $command ]]; then command=$word; else first=${first:-$word}; "
        "place=$((place + 1)); fi ;;\n"
        "        esac\n"
        "    done\n"
        "    case $command:$prev in\n";
    for (const CommandInfo& command : commands) text += bash_values(command);
    text += "    esac\n    if [[ $cur == -* ]]; then\n        case $command in\n";
    const std::string global = option_words(commands.front());
    for (const CommandInfo& command : commands) {
        if (command.name.empty()) continue;
        text += fmt::format(
            "        {}) COMPREPLY=($(compgen -W {} -- \"$cur\")) ;;\n",
            command.name,
            shell_quoted(option_words(command) + " " + global)
        );
    }
    text += fmt::format(
        "        *) COMPREPLY=($(compgen -W {} -- \"$cur\")) ;;\n        esac\n        return\n    "
        "fi\n",
        shell_quoted(global)
    );
    text += fmt::format(
        "    if [[ -z $command ]]; then COMPREPLY=($(compgen -W {} -- \"$cur\")); return; fi\n",
        shell_quoted(joined(names, " "))
    );
    text += "    case $command:$place in\n";
    for (const CommandInfo& command : commands) text += bash_positionals(command);
    text += "        *) COMPREPLY=() ;;\n    esac\n}\ncomplete -F _ebb ebb\n";
    return text;
}

/// In zsh's specifications `:` and brackets separate.
std::string zsh_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string zsh_value(const CommandInfo& command, const OptionInfo& option) {
    switch (kind_of(command, option)) {
        case Kind::Choice:
            return fmt::format(":value:({})", joined(option.choices, " "));
        case Kind::File:
            return ":file:_files";
        case Kind::Instance:
            return ":instance:_ebb_instances " + command.name;
        case Kind::Subject:
            return fmt::format(":subject:{{_files; _ebb_instances {}}}", command.name);
        case Kind::Signal:
            return ":signal:_ebb_signals";
        case Kind::Queue:
            return ":queue:_ebb_queues";
        case Kind::Workflow:
            return ":workflow:_ebb_workflows";
        case Kind::Any:
            return ":value: ";
        case Kind::Nothing:
            break;
    }
    return {};
}

std::string zsh_arguments(const CommandInfo& command, std::string_view indent) {
    std::string text;
    for (const OptionInfo& option : command.options) {
        if (option.is_positional) {
            text += fmt::format(
                " \\\n{}{}",
                indent,
                shell_quoted(
                    (is_list(command, option) ? "*" : "") +
                    (":" + zsh_value(command, option).substr(1))
                )
            );
            continue;
        }
        for (const std::string& name : option.names) {
            text += fmt::format(
                " \\\n{}{}",
                indent,
                shell_quoted(fmt::format(
                    "{}[{}]{}", name, zsh_text(option.description), zsh_value(command, option)
                ))
            );
        }
    }
    return text;
}

std::string zsh_script(const std::vector<CommandInfo>& commands) {
    std::string text = R"script(#compdef ebb
# zsh completion of ebb: put it as _ebb into a folder of $fpath, or
# source <(ebb completion zsh)

# Asks the database of the command line, or else that of EBB_DB; each line is a word, a tab and what
# it is.
_ebb_ask() {
    local -a db lines
    local at=${words[(I)--db]}
    (( at )) && db=(--db ${words[at+1]})
    lines=(${(f)"$(ebb $db __complete $@ 2>/dev/null)"})
    lines=(${lines//$'\t'/:})
    _describe value lines
}
_ebb_instances() { _ebb_ask instances $1; _files }
_ebb_signals() { _ebb_ask signals ${line[2]:-${words[2]}} }
_ebb_queues() { _ebb_ask queues }

_ebb_workflows() {
    local -a names
    names=(${(f)"$(ebb workflows --names 2>/dev/null)"})
    compadd -a names
    _files
}

_ebb() {
    local context state line
    typeset -A opt_args
    _arguments -C)script";
    text += zsh_arguments(commands.front(), "        ");
    text += " \\\n        '1:command:->command' \\\n        '*::argument:->argument'\n";
    text += "    case $state in\n    command)\n        local -a commands\n        commands=(\n";
    for (const CommandInfo& command : commands) {
        if (command.name.empty()) continue;
        text += fmt::format(
            "            {}\n", shell_quoted(command.name + ":" + zsh_text(command.description))
        );
    }
    text +=
        "        )\n        _describe command commands ;;\n    argument)\n        case $line[1] "
        "in\n";
    for (const CommandInfo& command : commands) {
        if (command.name.empty()) continue;
        text += fmt::format(
            "        {})\n            _arguments{}{} ;;\n",
            command.name,
            zsh_arguments(command, "                "),
            zsh_arguments(commands.front(), "                ")
        );
    }
    text += "        esac ;;\n    esac\n}\n\ncompdef _ebb ebb\n";
    return text;
}

std::string fish_value(const CommandInfo& command, const OptionInfo& option) {
    switch (kind_of(command, option)) {
        case Kind::Choice:
            return " -x -a " + shell_quoted(joined(option.choices, " "));
        case Kind::File:
            return " -r -F";
        case Kind::Instance:
            return fmt::format(" -x -a '(__ebb_ask instances {})'", command.name);
        case Kind::Subject:
            return fmt::format(" -r -F -a '(__ebb_ask instances {})'", command.name);
        case Kind::Signal:
            return " -x -a '(__ebb_ask signals (commandline -opc)[3])'";
        case Kind::Queue:
            return " -x -a '(__ebb_ask queues)'";
        case Kind::Workflow:
            return " -x -a '(__ebb_workflows)'";
        case Kind::Any:
            return " -x";
        case Kind::Nothing:
            break;
    }
    return {};
}

std::string fish_line(const CommandInfo& command, const OptionInfo& option) {
    std::string text = "complete -c ebb";
    if (!command.name.empty()) {
        text += fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    }
    if (option.is_positional) {
        const std::string value = fish_value(command, option);
        const Kind kind = kind_of(command, option);
        const bool has_files =
            kind == Kind::File || kind == Kind::Subject || kind == Kind::Workflow;
        const std::size_t words = std::min(value.find(" -a"), value.size());
        return text + (has_files ? " -F" : " -f") + value.substr(words) + "\n";
    }
    for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    return text + fish_value(command, option) + " -d " + shell_quoted(option.description) + "\n";
}

std::string fish_script(const std::vector<CommandInfo>& commands) {
    std::string text =
        R"script(# fish completion of ebb: ebb completion fish > ~/.config/fish/completions/ebb.fish

# Asks the database of the command line, or else that of EBB_DB.
function __ebb_ask
    set -l words (commandline -opc)
    set -l db
    if set -l at (contains -i -- --db $words)
        set db --db $words[(math $at + 1)]
    end
    ebb $db __complete $argv 2>/dev/null
end

function __ebb_workflows
    ebb workflows --names 2>/dev/null
end

complete -c ebb -f
)script";
    for (const CommandInfo& command : commands) {
        if (!command.name.empty()) {
            text += fmt::format(
                "complete -c ebb -n __fish_use_subcommand -a {} -d {}\n",
                command.name,
                shell_quoted(command.description)
            );
        }
        for (const OptionInfo& option : command.options) text += fish_line(command, option);
    }
    return text;
}

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<CommandInfo>& commands) {
    if (shell == "zsh") return zsh_script(commands);
    return shell == "fish" ? fish_script(commands) : bash_script(commands);
}

}  // namespace ebb::cli
