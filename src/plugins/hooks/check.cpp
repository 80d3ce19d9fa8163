#include "plugins/hooks/check.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "core/expression/expression.h"
#include "core/expression/template.h"
#include "engine/system_workflows.h"
#include "engine/webhook.h"
#include "support/json.h"

namespace ebb::hooks {

namespace {

constexpr std::array<std::string_view, 5> kSchemes{"standard", "github", "stripe", "hmac", "token"};
constexpr std::array<std::string_view, 2> kEncodings{"hex", "base64"};
/// What expressions of a hook may read.
constexpr std::array<std::string_view, 3> kVariables{"body", "headers", "delivery"};
constexpr std::string_view kSettings =
    "scheme, secret, workflow, signal, key, when, input, header, prefix, encoding and enabled";

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

std::string shown(std::string_view text) {
    return clean_text(text, Hook::kNameBytesMax);
}

bool is_word(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    });
}

/// A name that is a file of its own folder, too.
bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= Hook::kNameBytesMax && is_word(name) &&
           name.find_first_not_of('.') != std::string_view::npos;
}

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f;
    });
}

template <std::size_t N>
void check_choice(
    const char* what, const std::string& text, const std::array<std::string_view, N>& allowed
) {
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return;
    refuse(fmt::format(
        "{}: \"{}\" is not allowed. Allowed: {}.", what, shown(text), fmt::join(allowed, ", ")
    ));
}

std::string text_setting(const std::string& key, const Json& value) {
    if (!value.is_string()) refuse(fmt::format("{}: a text is expected.", key));
    auto text = value.get<std::string>();
    if (text.find('\0') != std::string::npos) refuse(fmt::format("{}: has a zero character.", key));
    return text;
}

HookSecret secret_setting(const Json& value) {
    if (value.is_string()) return {.text = text_setting("secret", value)};
    if (value.is_object() && value.size() == 1) {
        const auto where = value.begin();
        if (where.key() == "env") return {.variable = text_setting("secret.env", *where)};
        if (where.key() == "file") return {.file = text_setting("secret.file", *where)};
    }
    refuse("secret: a text, {\"env\": NAME} or {\"file\": NAME} is expected.");
}

void check_variables(const char* what, const std::vector<std::string>& read) {
    for (const std::string& name : read) {
        if (std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end()) continue;
        refuse(fmt::format(
            "{}: there is no variable \"{}\" here. There are: {}.",
            what,
            shown(name),
            fmt::join(kVariables, ", ")
        ));
    }
}

void check_expressions(const Hook& hook) {
    const char* what = "when";
    try {
        if (!hook.when.empty()) {
            check_variables(what, Expression::compile(hook.when).variables_read());
        }
        what = "key";
        if (!hook.key.empty()) {
            check_variables(what, Template::compile_text(hook.key).variables_read());
        }
        what = "input";
        check_variables(what, Template::compile(hook.input).variables_read());
    } catch (const ExpressionError& error) {
        refuse(fmt::format("{}: {}", what, error.what()));
    }
}

void check_secret(const HookSecret& secret) {
    const bool is_variable = secret.variable.starts_with(Hook::kVariablePrefix) &&
                             secret.variable.size() <= Hook::kTextBytesMax &&
                             is_printable(secret.variable);
    if (!secret.variable.empty() && !is_variable) {
        refuse(fmt::format(
            "secret.env: a hook may only name environment variables that begin with {}.",
            Hook::kVariablePrefix
        ));
    }
    if (!secret.file.empty() && !is_name(secret.file)) {
        refuse("secret.file: the name of a file in the folder of --hook-secrets is expected.");
    }
}

void check_signature(const Hook& hook) {
    const bool has_header = hook.scheme == "hmac" || hook.scheme == "token";
    if (!has_header && !hook.header.empty()) {
        refuse(fmt::format("header: the scheme {} has headers of its own.", hook.scheme));
    }
    if (hook.scheme != "hmac" && !hook.prefix.empty()) {
        refuse("prefix: only the scheme hmac has one.");
    }
    const bool is_short =
        hook.header.size() <= Hook::kTextBytesMax && hook.prefix.size() <= Hook::kTextBytesMax;
    if (!is_short || !is_word(hook.header) || !is_printable(hook.prefix)) {
        refuse(fmt::format(
            "header and prefix: the name of a header, and a text without spaces, of at most {} "
            "bytes are expected.",
            Hook::kTextBytesMax
        ));
    }
    check_choice("encoding", hook.encoding, kEncodings);
}

void check_target(const Hook& hook) {
    if (hook.workflow.empty() || hook.workflow.size() > DefinitionLimits::kNameBytesMax) {
        refuse(fmt::format(
            "workflow: the name of a workflow of 1 to {} bytes is expected.",
            DefinitionLimits::kNameBytesMax
        ));
    }
    engine::refuse_system_workflow(hook.workflow);
    if (hook.signal.size() > Hook::kTextBytesMax) {
        refuse(fmt::format("signal: it has more than {} bytes.", Hook::kTextBytesMax));
    }
    if (!hook.signal.empty() && hook.key.empty()) {
        refuse("key: a signal needs the key of the instance that gets it.");
    }
}

}  // namespace

void check_hook(const Hook& hook) {
    if (!is_name(hook.name)) {
        refuse(fmt::format(
            "\"{}\" is not a name of a hook: it has 1 to {} letters, digits, `_`, `-` and `.`.",
            shown(hook.name),
            Hook::kNameBytesMax
        ));
    }
    check_choice("scheme", hook.scheme, kSchemes);
    check_signature(hook);
    check_secret(hook.secret);
    // What is sealed was checked before.
    const std::string& text = hook.secret.text;
    if (!text.empty() && !is_sealed(text)) split_secrets(hook, text);
    check_target(hook);
    const std::size_t bytes = hook.key.size() + hook.when.size() + to_text(hook.input).size();
    if (bytes > Hook::kTemplateBytesMax) {
        refuse(fmt::format(
            "key, when and input: together they have more than {} bytes.", Hook::kTemplateBytesMax
        ));
    }
    check_expressions(hook);
}

std::vector<std::string> split_secrets(const Hook& hook, const std::string& text) {
    std::vector<std::string> secrets;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.ends_with('\r')) line.pop_back();
        if (!line.empty()) secrets.push_back(std::move(line));
    }
    if (secrets.empty() || secrets.size() > Hook::kSecretsMax) {
        refuse(fmt::format("secret: 1 to {} lines are expected.", Hook::kSecretsMax));
    }
    for (const std::string& secret : secrets) {
        if (hook.scheme == "standard") {
            engine::webhook_key(secret);
            continue;
        }
        const bool fits =
            secret.size() >= Hook::kSecretBytesMin && secret.size() <= Hook::kSecretBytesMax;
        if (fits) continue;
        refuse(fmt::format(
            "secret: a secret of {} to {} bytes is expected.",
            Hook::kSecretBytesMin,
            Hook::kSecretBytesMax
        ));
    }
    return secrets;
}

Hook read_hook(const std::string& name, const Json& settings) {
    if (!settings.is_object()) refuse("The settings of a hook are a JSON object.");
    Hook hook{.name = name, .scheme = {}};
    const std::initializer_list<std::pair<const char*, std::string*>> texts{
        {"scheme", &hook.scheme},
        {"workflow", &hook.workflow},
        {"signal", &hook.signal},
        {"key", &hook.key},
        {"when", &hook.when},
        {"header", &hook.header},
        {"prefix", &hook.prefix},
        {"encoding", &hook.encoding},
    };
    for (const auto& [key, value] : settings.items()) {
        if (value.is_null()) continue;
        const auto text = std::find_if(texts.begin(), texts.end(), [&, &known = key](auto& each) {
            return known == each.first;
        });
        if (text != texts.end()) {
            *text->second = text_setting(key, value);
        } else if (key == "input") {
            hook.input = value;
        } else if (key == "secret") {
            hook.secret = secret_setting(value);
        } else if (key == "enabled" && value.is_boolean()) {
            hook.is_enabled = value.get<bool>();
        } else {
            refuse(fmt::format(
                "\"{}\" is not a setting of a hook. Allowed: {} (true or false).",
                shown(key),
                kSettings
            ));
        }
    }
    check_hook(hook);
    return hook;
}

}  // namespace ebb::hooks
