#include "cli/exit_code.h"

namespace ebb::cli {

ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::InvalidArgument:
        case ErrorCode::InvalidDefinition:
        case ErrorCode::InvalidPayload:
        case ErrorCode::PayloadTooLarge:
        case ErrorCode::LimitExceeded:
            return kUsage;
        case ErrorCode::WorkflowNotFound:
        case ErrorCode::InstanceNotFound:
        case ErrorCode::HandlerNotFound:
            return kNotFound;
        case ErrorCode::WorkflowConflict:
        case ErrorCode::InvalidState:
        case ErrorCode::NotWaiting:
        case ErrorCode::NotAllowed:
        case ErrorCode::RevisionChanged:
            return kRefused;
        case ErrorCode::CorruptState:
        case ErrorCode::StoreUnavailable:
        case ErrorCode::StoreReadOnly:
        case ErrorCode::StoreFull:
        case ErrorCode::StoreDenied:
        case ErrorCode::StoreBusy:
        case ErrorCode::StoreVersion:
        case ErrorCode::StoreInDoubt:
        case ErrorCode::StoreError:
            return kStore;
        case ErrorCode::Internal:
            return kInternal;
    }
    return kInternal;
}

int exit_code_of_signal(int signal) {
    return 128 + signal;
}

int exit_code_of_status(InstanceStatus status) {
    return status == InstanceStatus::Completed ? kOk : kEndedBadly;
}

namespace {

/// What the kernel says of a request to an instance that has ended.
constexpr std::string_view kHasEnded = "so it can no longer be";

std::string hint_of_state(std::string_view message) {
    if (message.find(kHasEnded) != std::string_view::npos) {
        return "`ebb rerun ID` starts its work again, as a new instance";
    }
    // The others do not depend on the state of an instance.
    const bool is_of_workflow = message.starts_with("The workflow ") ||
                                message.find("its workflow \"") != std::string_view::npos;
    return is_of_workflow ? "" : "`ebb why ID` explains the state of the instance";
}

}  // namespace

/// What a request lacked, by the words of the refusal.
std::string hint_of_refusal(std::string_view message) {
    const auto has = [message](std::string_view word) {
        return message.find(word) != std::string_view::npos;
    };
    if (has("EBB_TOKEN")) return {};
    if (has("lacks the permission"))
        return "an administrator gives permissions to users and tokens";
    if (has("from outside")) return "an operator writes it with --repair";
    if (has("repair")) return "an operator repairs with --repair";
    if (has("role")) return "decide with --role and a role that the decision allows";
    if (has("permission")) return "an administrator gives permissions to users and tokens";
    return "a decision may need --role, a repair needs --repair, and a token needs the permission";
}

std::string hint_of(ErrorCode code, std::string_view message) {
    switch (code) {
        case ErrorCode::WorkflowConflict:
            return "raise `version:` in the file; a registered version never changes";
        case ErrorCode::WorkflowNotFound:
            return "`ebb workflows` lists what is registered; `ebb start FILE` registers a file";
        case ErrorCode::InstanceNotFound:
            return "`ebb list` shows the instances of this database";
        case ErrorCode::InvalidState:
            return hint_of_state(message);
        case ErrorCode::NotWaiting:
            return "`ebb why ID` explains the state of the instance";
        case ErrorCode::RevisionChanged:
            return "`ebb show ID` and `ebb history ID` show what has happened in the meantime";
        case ErrorCode::NotAllowed:
            return hint_of_refusal(message);
        case ErrorCode::CorruptState:
            return message.find("stored definition") == std::string_view::npos
                       ? ""
                       : "`ebb doctor` lists what cannot be read and says what to do";
        case ErrorCode::StoreBusy:
            return "another process holds the database; try again";
        case ErrorCode::StoreFull:
            return "make room on the disk and try again; nothing was changed";
        case ErrorCode::StoreVersion:
            return message.find(" version ") == std::string_view::npos
                       ? ""
                       : "use the same version of ebb everywhere";
        case ErrorCode::StoreInDoubt:
            return "run the same command again; it changes nothing twice";
        case ErrorCode::Internal:
            return "this is a bug of Ebb; please report it with the command that you ran";
        default:
            return {};
    }
}

}  // namespace ebb::cli
