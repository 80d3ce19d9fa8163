#include <algorithm>

#include <fmt/format.h>

#include "handlers/spec.h"
#include "handlers/spec_reader.h"

namespace ebb {

namespace {

void read_script(SpecReader& reader, const Json& exec, ExecSpec& spec) {
    spec.script = exec.get<std::string>();
    spec.interpreter = {"/bin/sh", "-eu"};
    if (spec.script.empty() || spec.script.size() > HandlerLimits::kScriptBytesMax) {
        reader.note(
            "invalid_value",
            "/exec",
            fmt::format("A script must have 1 to {} bytes.", HandlerLimits::kScriptBytesMax)
        );
    }
    if (reader.find("interpreter") != nullptr) {
        spec.interpreter = reader.texts("interpreter", HandlerLimits::kArgumentsMax);
    }
}

void read_arguments(SpecReader& reader, const Json& exec, ExecSpec& spec) {
    if (exec.empty() || exec.size() > HandlerLimits::kArgumentsMax) {
        reader.note(
            "invalid_value",
            "/exec",
            fmt::format(
                "\"exec\" must list the program and its arguments, at most {} in all.",
                HandlerLimits::kArgumentsMax
            )
        );
    }
    for (std::size_t i = 0; i < exec.size(); ++i) {
        const std::string at = fmt::format("/exec/{}", i);
        const auto text = scalar_text(exec[i]);
        if (!text) {
            reader.note("wrong_type", at, "Each element of \"exec\" must be a text.");
        } else if (auto compiled = reader.compile(Json(*text), at)) {
            spec.arguments.push_back(std::move(*compiled));
        }
    }
    if (!spec.arguments.empty() && (!spec.arguments.front().is_constant() || exec[0] == Json(""))) {
        reader.note(
            "invalid_value",
            "/exec/0",
            "The program must be a fixed name: data must not choose what is run. Only arguments "
            "may have ${...}."
        );
    }
    if (reader.find("interpreter") != nullptr) {
        reader.note(
            "conflicting_keys",
            "/interpreter",
            "\"interpreter\" belongs to a script: give \"exec\" as one text, or put the "
            "interpreter first in its list."
        );
    }
}

void read_environment_names(SpecReader& reader, ExecSpec& spec) {
    spec.pass_environment = reader.variable_names("pass_env");
    spec.environment = reader.templates("env");
    for (const auto& [name, value] : spec.environment) {
        if (is_variable_name(name) && !name.starts_with("EBB_")) continue;
        reader.note(
            "invalid_value",
            "/env/" + escape_pointer(name),
            fmt::format(
                "\"{}\" cannot be the name of a variable: letters, digits and _, not beginning "
                "with a digit or EBB_.",
                clean_text(name, 100)
            )
        );
    }
}

void read_exit_codes(SpecReader& reader, ExecSpec& spec) {
    const Json* codes = reader.find("permanent_exit_codes");
    if (codes == nullptr) return;
    const auto is_code = [](const Json& code) {
        return code.is_number_integer() && code.get<std::int64_t>() >= 1 &&
               code.get<std::int64_t>() <= 255;
    };
    if (!codes->is_array() || !std::all_of(codes->begin(), codes->end(), is_code)) {
        reader.note(
            "invalid_value",
            "/permanent_exit_codes",
            "\"permanent_exit_codes\" must be a list of exit codes from 1 to 255."
        );
        return;
    }
    for (const Json& code : *codes) spec.permanent_exit_codes.push_back(code.get<int>());
}

}  // namespace

ExecSpec read_exec_spec(SpecReader& reader, const std::filesystem::path& base_directory) {
    ExecSpec spec;
    reader.allow_only_of_entry(
        {"exec",
         "interpreter",
         "env",
         "pass_env",
         "cwd",
         "timeout",
         "grace",
         "max_output",
         "output",
         "permanent_exit_codes"}
    );
    const Json& exec = *reader.find("exec");
    if (exec.is_string()) {
        read_script(reader, exec, spec);
    } else if (exec.is_array()) {
        read_arguments(reader, exec, spec);
    } else {
        reader.note(
            "wrong_type",
            "/exec",
            "\"exec\" must be a list (program and arguments) or a text (a script)."
        );
    }
    read_environment_names(reader, spec);
    read_exit_codes(reader, spec);
    spec.working_directory = base_directory / reader.text("cwd");
    spec.timeout = reader.duration("timeout", Duration(0), HandlerLimits::kTimeoutMax);
    spec.grace = reader.duration("grace", spec.grace, HandlerLimits::kGraceMax);
    spec.output_bytes_max = reader.bytes(
        "max_output", HandlerLimits::kOutputBytesDefault, HandlerLimits::kOutputBytesMax
    );
    spec.output = reader.output_mode();
    return spec;
}

}  // namespace ebb
