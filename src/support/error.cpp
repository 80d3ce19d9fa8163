#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb {

std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::InvalidArgument:
            return "invalid_argument";
        case ErrorCode::InvalidDefinition:
            return "invalid_definition";
        case ErrorCode::InvalidPayload:
            return "invalid_payload";
        case ErrorCode::PayloadTooLarge:
            return "payload_too_large";
        case ErrorCode::WorkflowNotFound:
            return "workflow_not_found";
        case ErrorCode::WorkflowConflict:
            return "workflow_conflict";
        case ErrorCode::InstanceNotFound:
            return "instance_not_found";
        case ErrorCode::InvalidState:
            return "invalid_state";
        case ErrorCode::NotWaiting:
            return "not_waiting";
        case ErrorCode::NotAllowed:
            return "not_allowed";
        case ErrorCode::RevisionChanged:
            return "revision_changed";
        case ErrorCode::HandlerNotFound:
            return "handler_not_found";
        case ErrorCode::LimitExceeded:
            return "limit_exceeded";
        case ErrorCode::CorruptState:
            return "corrupt_state";
        case ErrorCode::StoreUnavailable:
            return "store_unavailable";
        case ErrorCode::StoreReadOnly:
            return "store_read_only";
        case ErrorCode::StoreFull:
            return "store_full";
        case ErrorCode::StoreDenied:
            return "store_denied";
        case ErrorCode::StoreBusy:
            return "store_busy";
        case ErrorCode::StoreVersion:
            return "store_version";
        case ErrorCode::StoreInDoubt:
            return "store_in_doubt";
        case ErrorCode::StoreError:
            return "store_error";
        case ErrorCode::Internal:
            return "internal";
    }
    return "internal";
}

std::string_view to_string(Diagnostic::Severity severity) {
    return severity == Diagnostic::Severity::Error ? "error" : "warning";
}

Error::Error(ErrorCode code, const std::string& message, std::source_location where)
    : std::runtime_error(message), code_(code), where_(where) {}

bool Error::is_transient() const {
    switch (code_) {
        case ErrorCode::StoreUnavailable:
        case ErrorCode::StoreFull:
        case ErrorCode::StoreBusy:
        case ErrorCode::StoreReadOnly:
        case ErrorCode::StoreInDoubt:
            return true;
        default:
            return false;
    }
}

namespace {

/// `what()` stays readable; `diagnostics()` has all.
constexpr std::size_t kDescribedMax = 50;

std::string describe(const std::vector<Diagnostic>& diagnostics) {
    std::string text = fmt::format(
        "The definition has {} error{}.", diagnostics.size(), diagnostics.size() == 1 ? "" : "s"
    );
    std::size_t count = 0;
    for (const Diagnostic& d : diagnostics) {
        if (++count > kDescribedMax) {
            return text + fmt::format("\n  and {} more.", diagnostics.size() - kDescribedMax);
        }
        text += "\n  ";
        if (!d.file.empty()) text += d.file + ":";
        if (d.line > 0) text += fmt::format("{}:{}:", d.line, d.column);
        if (!text.ends_with(' ')) text += ' ';
        text += fmt::format("{} ({}): {}", d.path.empty() ? "/" : d.path, d.code, d.message);
    }
    return text;
}

}  // namespace

DefinitionError::DefinitionError(std::vector<Diagnostic> diagnostics, std::source_location where)
    : Error(ErrorCode::InvalidDefinition, describe(diagnostics), where),
      diagnostics_(std::move(diagnostics)) {}

PermanentError::PermanentError(const std::string& message, std::string code)
    : std::runtime_error(message), code_(std::move(code)) {}

RetryAfter::RetryAfter(const std::string& message, Duration delay)
    : std::runtime_error(message), delay_(delay) {}

}  // namespace ebb
