#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/error.h>
#include <ebb/time.h>

#include "core/expression/template.h"
#include "handlers/spec.h"
#include "support/json.h"

namespace ebb {

/// Reads one JSON object of a handler entry. Each function returns something usable whatever the
/// value is, and notes what is wrong with it; so one pass finds all problems.
class SpecReader {
 public:
    /// `object` and `problems` must outlive the reader.
    SpecReader(const Json& object, std::string path, std::vector<Diagnostic>& problems)
        : object_(object), path_(std::move(path)), problems_(problems) {}

    /// Notes every other key, with the one that was probably meant.
    void allow_only(std::vector<std::string_view> keys);
    /// The same of the entry itself, which may also have the keys of a contract.
    void allow_only_of_entry(std::vector<std::string_view> keys);

    /// Null when there is none.
    const Json* find(std::string_view key) const;

    std::string text(std::string_view key, std::string_view otherwise = "");
    std::vector<std::string> texts(std::string_view key, std::size_t count_max);
    Duration duration(std::string_view key, Duration otherwise, Duration max);
    /// A count of bytes: a number, or a text such as `64KiB` or `1MiB`.
    std::size_t bytes(std::string_view key, std::size_t otherwise, std::size_t max);
    OutputMode output_mode();
    /// Names of environment variables.
    std::vector<std::string> variable_names(std::string_view key);
    /// An object of names and templates of text; numbers and bools count as text.
    std::map<std::string, Template> templates(std::string_view key);

    std::optional<Template> compile(const Json& value, const std::string& at);
    /// Notes variables that an expression of a handler does not see.
    void check_variables(std::span<const std::string> names, const std::string& at);

    /// `at` is what comes after the object's own path: `/env/NAME`.
    void note(std::string code, const std::string& at, std::string message);

 private:
    const Json& object_;
    std::string path_;
    std::vector<Diagnostic>& problems_;
};

/// `/` and `~` as a JSON pointer needs them.
std::string escape_pointer(std::string_view key);

/// A value of a list of texts: strings as they are, numbers and bools as JSON; empty for all else.
std::optional<std::string> scalar_text(const Json& value);

/// `[A-Za-z_][A-Za-z0-9_]*`
bool is_variable_name(std::string_view name);

}  // namespace ebb
