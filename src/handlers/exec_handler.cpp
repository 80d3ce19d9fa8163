#include "handlers/exec_handler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "handlers/call_variables.h"
#include "handlers/output.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/os_file.h"
#include "support/os_process.h"

namespace ebb {

namespace {

using End = ProcessResult::End;

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

std::string_view outcome_name(CompensatedStep::Outcome outcome) {
    switch (outcome) {
        case CompensatedStep::Outcome::Completed:
            return "completed";
        case CompensatedStep::Outcome::Failed:
            return "failed";
        case CompensatedStep::Outcome::Unknown:
            return "unknown";
    }
    return "unknown";
}

/// One call: its needs and its outcome.
class Call {
 public:
    Call(
        const std::string& name,
        const ExecSpec& spec,
        const Payload& input,
        const StepContext& context
    )
        : name_(name),
          spec_(spec),
          input_(input),
          context_(context),
          passed_(read_environment(spec.pass_environment)),
          redactor_(redactor_of(passed_)),
          variables_(input, context, passed_) {}

    Payload run() {
        try {
            return perform();
        } catch (const HandlerFailure& failure) {
            throw redacted(failure, redactor_);
        }
    }

 private:
    Payload perform() {
        request_.input = input_;
        request_.working_directory = spec_.working_directory;
        request_.output_bytes_max = spec_.output_bytes_max;
        request_.errors_bytes_max = HandlerLimits::kErrorsBytesMax;
        request_.timeout = spec_.timeout;
        request_.grace = spec_.grace;
        request_.stop = context_.stop;
        set_environment();
        set_arguments();
        return answer(start());
    }

    void set_environment() {
        auto& environment = request_.environment;
        environment = read_environment({"PATH", "HOME", "LANG", "TZ"});
        environment.emplace("PATH", kDefaultPath);
        for (const auto& [name, value] : passed_) environment[name] = value;
        for (const auto& [name, value] : spec_.environment) {
            const std::string what =
                fmt::format("The variable {} of the handler \"{}\"", name, name_);
            environment[name] = checked(render_text(value, variables_, what), what);
        }
        environment["EBB_INSTANCE_ID"] = context_.instance.to_string();
        environment["EBB_WORKFLOW"] = context_.workflow;
        environment["EBB_WORKFLOW_VERSION"] = std::to_string(context_.workflow_version);
        environment["EBB_STEP"] = context_.step;
        environment["EBB_ATTEMPT"] = std::to_string(context_.attempt);
        environment["EBB_IDEMPOTENCY_KEY"] = context_.idempotency_key;
        environment["EBB_INPUT_FILE"] = files_.add("input.json", input_).string();
        if (context_.payload) {
            environment["EBB_PAYLOAD_FILE"] =
                files_.add("payload.json", *context_.payload).string();
        }
        if (context_.compensates) set_compensation(*context_.compensates);
    }

    void set_compensation(const CompensatedStep& step) {
        auto& environment = request_.environment;
        environment["EBB_COMPENSATION"] = "1";
        environment["EBB_FORWARD_OUTCOME"] = outcome_name(step.outcome);
        environment["EBB_FORWARD_IDEMPOTENCY_KEY"] = step.idempotency_key;
        const auto add = [&](const char* variable, const char* file, const Payload& content) {
            if (!content.empty()) environment[variable] = files_.add(file, content).string();
        };
        add("EBB_FORWARD_INPUT_FILE", "forward_input.json", step.input);
        add("EBB_FORWARD_OUTPUT_FILE", "forward_output.json", step.output);
        add("EBB_FORWARD_ERROR_FILE", "forward_error.json", step.error);
    }

    void set_arguments() {
        auto& arguments = request_.arguments;
        if (!spec_.script.empty()) {
            arguments = spec_.interpreter;
            arguments.push_back(files_.add("script", spec_.script).string());
            program_ = "the script";
            return;
        }
        for (const Template& argument : spec_.arguments) {
            const std::string what =
                fmt::format("The argument {} of the handler \"{}\"", arguments.size(), name_);
            arguments.push_back(checked(render_text(argument, variables_, what), what));
        }
        program_ = fmt::format("the program \"{}\"", arguments.front());
    }

    /// A text that a program can be given.
    static std::string checked(std::string text, const std::string& what) {
        if (text.size() > HandlerLimits::kArgumentBytesMax) {
            throw HandlerFailure(
                fmt::format(
                    "{} has {} bytes; the system allows {}. Large data belongs on stdin or in "
                    "EBB_INPUT_FILE, where the "
                    "step's input is.",
                    what,
                    text.size(),
                    HandlerLimits::kArgumentBytesMax
                ),
                {.code = "argument_too_large", .is_permanent = true}
            );
        }
        if (text.find('\0') != std::string::npos) {
            throw HandlerFailure(
                fmt::format("{} contains a zero byte, which would cut it off.", what),
                {.code = "invalid_argument", .is_permanent = true}
            );
        }
        return text;
    }

    ProcessResult start() const {
        try {
            return run_process(request_);
        } catch (const ProcessNotStarted& error) {
            // Not permanent: another worker may have the program, or this one after the next
            // deployment.
            throw HandlerFailure(
                fmt::format("The handler \"{}\" could not run. {}", name_, error.what()),
                {.code = "not_started"}
            );
        }
    }

    Payload answer(const ProcessResult& result) const {
        if (result.end != End::Exited || result.exit_code != 0) throw_failure(result);
        const std::string what = fmt::format("The handler \"{}\": {}", name_, program_);
        return make_output(
            spec_.output,
            {.what = what,
             .text = result.output,
             .bytes_max = spec_.output_bytes_max,
             .redactor = redactor_},
            input_
        );
    }

    [[noreturn]] void throw_failure(const ProcessResult& result) const {
        const std::string errors = errors_of(result.errors);
        HandlerFailure::Options options{.code = code_of(result)};
        const auto& permanent = spec_.permanent_exit_codes;
        options.is_permanent =
            result.end == End::OutputTooLarge ||
            (result.end == End::Exited &&
             std::find(permanent.begin(), permanent.end(), result.exit_code) != permanent.end());
        Json details = {{"stderr", errors}};
        details["exit_code"] = result.end == End::Exited ? Json(result.exit_code) : Json();
        details["signal"] = result.signal == 0 ? Json() : Json(result.signal);
        options.details = to_text(details);
        throw HandlerFailure(message_of(result, last_line(errors)), std::move(options));
    }

    /// The cause first: what the program itself said, if it ended by itself.
    std::string message_of(const ProcessResult& result, const std::string& last) const {
        const std::string story =
            fmt::format("{} of the handler \"{}\" {}", program_, name_, story_of(result));
        if (result.end == End::Exited && !last.empty()) return fmt::format("{} ({})", last, story);
        std::string message = "T" + story.substr(1) + ".";
        if (!last.empty()) message += fmt::format(" The last line of its stderr: {}", last);
        return message;
    }

    /// Secrets are hidden on both sides of what was left out, where a part of one may stand.
    std::string errors_of(HeadAndTail errors) const {
        using Cut = Redactor::Cut;
        if (errors.left_out == 0) {
            errors.head += std::exchange(errors.tail, {});
        }
        const bool is_cut = errors.left_out > 0;
        errors.head = redactor_.text(errors.head, is_cut ? Cut::Back : Cut::None);
        errors.tail = redactor_.text(errors.tail, is_cut ? Cut::Front : Cut::None);
        return clean_text(errors.text(), HandlerLimits::kErrorsBytesMax + 64);
    }

    static std::string code_of(const ProcessResult& result) {
        switch (result.end) {
            case End::Exited:
                return fmt::format("exit_{}", result.exit_code);
            case End::Signalled:
                return fmt::format("signal_{}", result.signal);
            case End::TimedOut:
                return "timeout";
            case End::Stopped:
                return "stopped";
            case End::OutputTooLarge:
                return "output_too_large";
            case End::Lost:
                return "exit_unknown";
        }
        return "error";
    }

    std::string story_of(const ProcessResult& result) const {
        switch (result.end) {
            case End::Exited:
                return fmt::format("exited with code {}", result.exit_code);
            case End::Signalled:
                return fmt::format("was ended by signal {}", result.signal);
            case End::TimedOut:
                return fmt::format("was ended because it took longer than {}", timeout_text());
            case End::Stopped:
                return "was ended because the step was stopped";
            case End::OutputTooLarge:
                return fmt::format(
                    "was ended because it wrote more than the {} bytes to stdout that max_output "
                    "allows",
                    spec_.output_bytes_max
                );
            case End::Lost:
                return "ended, but its exit status is unknown because this process ignores SIGCHLD "
                       "or waits for other children";
        }
        return "failed";
    }

    std::string timeout_text() const { return format_duration(spec_.timeout); }

    static std::string last_line(std::string_view text) {
        constexpr std::size_t kBytesMax = 300;
        const std::size_t end = text.find_last_not_of(" \t\r\n");
        if (end == std::string_view::npos) return {};
        text = text.substr(0, end + 1);
        const std::size_t newline = text.rfind('\n');
        if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
        return clean_text(text, kBytesMax);
    }

    const std::string& name_;
    const ExecSpec& spec_;
    const Payload& input_;
    const StepContext& context_;
    const CallVariables::Environment passed_;
    const Redactor redactor_;
    const CallVariables variables_;
    const TempDirectory files_;
    ProcessRequest request_;
    std::string program_;
};

}  // namespace

Handler make_exec_handler(const std::string& name, ExecSpec spec) {
    return [name, shared = std::make_shared<const ExecSpec>(std::move(spec))](
               const Payload& input, const StepContext& context
           ) { return Call(name, *shared, input, context).run(); };
}

}  // namespace ebb
