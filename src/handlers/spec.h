#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ebb/error.h>
#include <ebb/json.h>
#include <ebb/time.h>

#include "call/contract.h"
#include "core/expression/template.h"
#include "handlers/url_template.h"

namespace ebb {

/// The named limits of handler entries.
struct HandlerLimits {
    static constexpr std::size_t kOutputBytesDefault = std::size_t{1} << 20;
    static constexpr std::size_t kOutputBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kScriptBytesMax = std::size_t{256} << 10;
    static constexpr std::size_t kArgumentsMax = 256;
    static constexpr std::size_t kVariablesMax =
        128;  ///< entries of `env`, `pass_env` and `headers` each
    static constexpr std::size_t kArgumentBytesMax =
        (std::size_t{128} << 10) - 1;  ///< Linux's MAX_ARG_STRLEN
    static constexpr std::size_t kErrorsBytesMax =
        std::size_t{8} << 10;  ///< of stderr or a response's body in a failure
    static constexpr std::size_t kUrlBytesMax = std::size_t{8} << 10;
    static constexpr std::size_t kHeaderBytesMax = std::size_t{8} << 10;
    static constexpr int kRedirectsMax = 5;
    static constexpr Duration kTimeoutMax = std::chrono::hours(24 * 7);
    static constexpr Duration kGraceMax = std::chrono::minutes(10);
    static constexpr Duration kRetryAfterMax = std::chrono::hours(24);
};

/// How the answer of a program or server is used.
enum class OutputMode {
    Document,  ///< it is the output; nothing at all = the input passes through
    Text,      ///< it becomes a JSON string
    None,      ///< it is ignored; the input passes through
};

/// An `exec:` entry.
struct ExecSpec {
    std::vector<Template> arguments;  ///< of the form with a list; the first is constant
    std::string script;               ///< of the form with a text
    std::vector<std::string> interpreter;
    std::map<std::string, Template> environment;
    std::vector<std::string> pass_environment;
    std::filesystem::path working_directory;
    Duration timeout{0};  ///< 0 = none
    Duration grace = std::chrono::seconds(5);
    std::size_t output_bytes_max = HandlerLimits::kOutputBytesDefault;
    OutputMode output = OutputMode::Document;
    std::vector<int> permanent_exit_codes;
};

/// An `http:` entry.
struct HttpSpec {
    std::string method;
    UrlTemplate url;
    std::vector<std::pair<std::string, Template>> headers;
    std::optional<Template> body;
    std::vector<std::string> pass_environment;
    std::vector<std::string> allow_hosts;
    std::string proxy;
    std::filesystem::path ca_file;
    std::filesystem::path client_cert;
    std::filesystem::path client_key;
    Duration timeout = std::chrono::seconds(30);
    std::size_t response_bytes_max = HandlerLimits::kOutputBytesDefault;
    OutputMode output = OutputMode::Document;
};

/// No alternative but the first if it has problems, or only a contract for a handler in C++.
using HandlerSpec = std::variant<std::monostate, ExecSpec, HttpSpec>;

/// One entry of `handlers:`.
struct HandlerEntry {
    HandlerSpec spec;
    HandlerContract contract;
};

/// Reads one entry; appends what is wrong with it to `problems`.
HandlerEntry parse_handler_spec(
    const std::string& name,
    const Payload& text,
    const std::filesystem::path& base_directory,
    std::vector<Diagnostic>& problems
);

/// Appends the fields that expressions of a valid entry read of variables that never have them. A
/// worker does not ask: a stored definition stays valid.
void check_fields(const std::string& name, const Json& entry, std::vector<Diagnostic>& problems);

class SpecReader;

ExecSpec read_exec_spec(SpecReader& reader, const std::filesystem::path& base_directory);
HttpSpec read_http_spec(SpecReader& reader, const std::filesystem::path& base_directory);

}  // namespace ebb
