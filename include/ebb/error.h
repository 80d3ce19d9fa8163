#pragma once

#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/print.h>
#include <ebb/time.h>

namespace ebb {

/// What went wrong, as a closed list. Its snake_case name (`to_string`) is the same in logs, JSON,
/// the CLI and the docs.
enum class ErrorCode {
    InvalidArgument,    ///< an option, id or name that is not valid
    InvalidDefinition,  ///< the definition has errors: see DefinitionError
    InvalidPayload,     ///< not JSON, not UTF-8, or contains U+0000
    PayloadTooLarge,    ///< above a named limit of size or depth
    WorkflowNotFound,
    WorkflowConflict,  ///< the same name and version with different content
    InstanceNotFound,
    InvalidState,  ///< the instance is in a state in which this cannot be done
    NotWaiting,    ///< no such decision or signal is awaited
    NotAllowed,    ///< the person's role may not do this
    HandlerNotFound,
    LimitExceeded,     ///< any other named limit
    CorruptState,      ///< a stored row cannot be understood; it was set aside
    StoreUnavailable,  ///< the database does not answer: try again
    StoreReadOnly,
    StoreFull,    ///< disk or quota full: free some space; work then continues
    StoreDenied,  ///< the database user lacks a privilege or may not connect: an administrator must
                  ///< grant it
    StoreBusy,    ///< another process holds the write lock for too long: try again
    StoreVersion,     ///< the database's schema is newer (or older) than this program
    StoreInDoubt,     ///< the connection died during a commit; every verb is safe to repeat
    StoreError,       ///< anything else that the database reports
    Internal,         ///< a bug of Ebb
    RevisionChanged,  ///< the instance no longer has the revision that the caller expected
};

std::string_view to_string(ErrorCode code);

/// The base of all exceptions that Ebb throws. `what()` is a complete sentence: what is wrong,
/// where, and what is allowed.
class Error : public std::runtime_error {
 public:
    Error(
        ErrorCode code,
        const std::string& message,
        std::source_location where = std::source_location::current()
    );

    ErrorCode code() const { return code_; }

    /// True if the same call can succeed later without any change by a person.
    bool is_transient() const;

    const std::source_location& where() const { return where_; }

 private:
    ErrorCode code_;
    std::source_location where_;
};

/// A part of a source text. Lines and columns count from 1, columns in characters (code points);
/// the end is behind the last character. Line 0 = unknown.
struct SourceRange {
    int line = 0;
    int column = 0;
    int end_line = 0;
    int end_column = 0;

    bool operator==(const SourceRange&) const = default;
};

/// A problem of a definition: where it is, what it is and what to do about it.
struct Diagnostic {
    /// A warning does not make a definition invalid: `validate` reports errors only.
    enum class Severity { Error, Warning };

    /// Another place that explains the problem.
    struct Related {
        std::string message;  ///< a complete sentence
        SourceRange range{};
        std::string path{};  ///< JSON pointer of that place

        bool operator==(const Related&) const = default;
    };

    /// An edit that removes the problem: `replacement` instead of the text of `range`.
    struct Fix {
        std::string title;  ///< `Replace "inptu" with "input"`
        SourceRange range{};
        std::string replacement{};

        bool operator==(const Fix&) const = default;
    };

    std::string code;     ///< stable, snake_case: `duplicate_name`, `unknown_step`, ...
    std::string path;     ///< JSON pointer into the definition: `/steps/2/compensate`
    std::string message;  ///< a complete sentence with the remedy
    int line = 0;         ///< 1-based line of the source text; 0 if it has none
    int column = 0;       ///< 1-based column
    std::string file{};   ///< as the caller named it; empty if the text did not come from a file
    int end_line = 0;     ///< where the text at fault ends (see SourceRange); 0 if unknown
    int end_column = 0;
    Severity severity = Severity::Error;
    std::vector<Related> related{};
    std::vector<Fix> fixes{};  ///< alternatives; none if no edit is certain enough

    bool operator==(const Diagnostic&) const = default;
};

/// `error`, `warning`.
std::string_view to_string(Diagnostic::Severity severity);

/// Thrown if a definition is not valid. Contains all problems, not only the first one.
class DefinitionError : public Error {
 public:
    explicit DefinitionError(
        std::vector<Diagnostic> diagnostics,
        std::source_location where = std::source_location::current()
    );

    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
    std::vector<Diagnostic> diagnostics_;
};

/// Thrown by a handler: the step has failed for good and is not retried. `code` appears in the
/// history.
class PermanentError : public std::runtime_error {
 public:
    explicit PermanentError(const std::string& message, std::string code = "permanent");

    const std::string& code() const { return code_; }

 private:
    std::string code_;
};

/// Thrown by a handler: this attempt has failed; the next one starts after `delay` instead of the
/// policy's backoff.
class RetryAfter : public std::runtime_error {
 public:
    RetryAfter(const std::string& message, Duration delay);

    Duration delay() const { return delay_; }

 private:
    Duration delay_;
};

}  // namespace ebb
