#include "plugins/hooks/mapping.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/expression/expression.h"
#include "core/expression/template.h"
#include "support/json.h"
#include "support/sha256.h"

namespace ebb::hooks {

namespace {

constexpr std::size_t kKeyBytesMax = 256;
/// Of the digest that names a delivery.
constexpr std::size_t kDigits = 32;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidPayload, why);
}

class HookVariables : public Variables {
 public:
    explicit HookVariables(const HookEvent& event)
        : body_(parse_json(event.body, "The body")),
          headers_(event.headers),
          delivery_(event.delivery) {}

    const Json* find(std::string_view name) const override {
        if (name == "body") return &body_;
        if (name == "headers") return &headers_;
        return name == "delivery" ? &delivery_ : nullptr;
    }

    const Json* find_step(std::string_view) const override { return nullptr; }

 private:
    const Json body_;
    const Json headers_;
    const Json delivery_;
};

std::string key_of(const Hook& hook, const HookVariables& variables) {
    const Json value = Template::compile_text(hook.key).render(variables);
    const std::string key = value.is_string() ? value.get<std::string>() : to_text(value);
    const bool is_scalar = !value.is_structured() && !value.is_null();
    const bool is_key = is_scalar && !key.empty() && key.size() <= kKeyBytesMax &&
                        !key.starts_with('~') && key.find('\0') == std::string::npos;
    if (is_key) return key;
    refuse(fmt::format(
        "key: \"{}\" is not a key of 1 to {} bytes that does not begin with ~.",
        clean_text(key, 64),
        kKeyBytesMax
    ));
}

}  // namespace

HookAct act_of(const Hook& hook, const HookEvent& event) {
    const HookVariables variables(event);
    HookAct act;
    act.request_id = sha256_hex(hook.name + "\n" + event.delivery).substr(0, kDigits);
    const char* what = "when";
    try {
        if (!hook.when.empty()) {
            act.is_wanted = Expression::compile(hook.when).evaluate_bool(variables);
        }
        if (!act.is_wanted) return act;
        what = "key";
        // `~` is in no key of a user's own request.
        act.key = hook.key.empty() ? "~hook-" + act.request_id : key_of(hook, variables);
        what = "input";
        // As it stands, so that its numbers keep their digits.
        act.input = Payload::text(
            hook.input.is_null() ? event.body
                                 : to_text(Template::compile(hook.input).render(variables))
        );
    } catch (const ExpressionError& error) {
        refuse(fmt::format("{}: {}", what, error.what()));
    }
    return act;
}

}  // namespace ebb::hooks
