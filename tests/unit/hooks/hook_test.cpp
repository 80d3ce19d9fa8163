// Goal: a hook does what its settings say, and wrong settings are refused with their place. Method:
// the settings as a developer writes them, events as programs send them, and the memory store.

#include "plugins/hooks/hook.h"

#include <gmock/gmock.h>

#include <ebb/error.h>

#include "plugins/hooks/mapping.h"
#include "support/json.h"

namespace ebb::hooks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Hook read(const char* json) {
    return read_hook("shop", Json::parse(json));
}

std::string refusal(const char* json) {
    try {
        read(json);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        return error.what();
    }
    return "accepted";
}

TEST(HookSettings, says_what_is_wrong_where) {
    EXPECT_THAT(refusal(R"({})"), HasSubstr("scheme"));
    EXPECT_THAT(refusal(R"({"scheme": "md5", "workflow": "w"})"), HasSubstr("md5"));
    EXPECT_THAT(refusal(R"({"scheme": "github"})"), HasSubstr("workflow"));
    const auto with = [](const std::string& rest) {
        return refusal((R"({"scheme": "github", "workflow": "w", )" + rest + "}").c_str());
    };
    EXPECT_THAT(with(R"("surprise": 1)"), HasSubstr("surprise"));
    EXPECT_THAT(with(R"("signal": "paid")"), HasSubstr("key"));
    EXPECT_THAT(with(R"("key": "${ body. }")"), HasSubstr("key"));
    EXPECT_THAT(with(R"("when": "bodi.x == 1")"), HasSubstr("bodi"));
    EXPECT_THAT(with(R"("input": {"a": "${ steps.x.output }"})"), HasSubstr("steps"));
    EXPECT_THAT(with(R"("header": "X-Mine")"), HasSubstr("header"));
    EXPECT_THAT(with(R"("prefix": "sha256=")"), HasSubstr("prefix"));
    EXPECT_THAT(with(R"("encoding": "utf8")"), HasSubstr("encoding"));
    EXPECT_THAT(with(R"("secret": {"env": "HOME"})"), HasSubstr("EBB_HOOK_"));
    EXPECT_THAT(with(R"("secret": {"file": "../key"})"), HasSubstr("--hook-secrets"));
    EXPECT_THAT(with(R"("secret": {"file": ".."})"), HasSubstr("--hook-secrets"));
    EXPECT_THAT(with(R"("secret": "hunter2")"), HasSubstr("16"));
    EXPECT_THAT(with(R"("secret": "hunter2")"), Not(HasSubstr("hunter2")));
    EXPECT_THAT(
        refusal(R"({"scheme": "github", "workflow": "ebb:webhook"})"), HasSubstr("ebb:webhook")
    );
    EXPECT_THAT(
        refusal(R"({"scheme": "standard", "workflow": "w", "secret": "sixteen bytes or more"})"),
        HasSubstr("whsec_")
    );
    EXPECT_EQ(with(R"("when": "body.list.all(x, x > 1) && delivery != ''")"), "accepted");
}

TEST(HookSettings, a_secret_is_shown_only_when_it_is_made) {
    const auto admin = make_memory_admin_store();
    const Json made = put_hook(*admin, read(R"({"scheme": "standard", "workflow": "w"})"));
    EXPECT_THAT(made.at("secret").get<std::string>(), StartsWith("whsec_"));
    const Json again = put_hook(*admin, read(R"({"scheme": "standard", "workflow": "other"})"));
    EXPECT_TRUE(again.at("secret").is_null());
    const auto kept = find_hook(*admin, "shop");
    EXPECT_EQ(kept->secret.text, made.at("secret").get<std::string>());
    EXPECT_EQ(kept->workflow, "other");
    EXPECT_TRUE(remove_hook(*admin, "shop"));
    EXPECT_FALSE(remove_hook(*admin, "shop"));
    EXPECT_FALSE(find_hook(*admin, "shop"));
}

TEST(HookSettings, a_kept_secret_must_fit_a_new_scheme) {
    const auto admin = make_memory_admin_store();
    put_hook(*admin, read(R"({"scheme": "github", "workflow": "w"})"));
    EXPECT_THROW(put_hook(*admin, read(R"({"scheme": "standard", "workflow": "w"})")), Error);
    EXPECT_EQ(find_hook(*admin, "shop")->scheme, "github");
}

TEST(HookSettings, there_is_a_limit) {
    const auto admin = make_memory_admin_store();
    Hook hook = read(R"({"scheme": "github", "workflow": "w"})");
    for (std::size_t i = 0; i < Hook::kCountMax; ++i) {
        hook.name = "h" + std::to_string(i);
        put_hook(*admin, hook);
    }
    put_hook(*admin, hook);
    hook.name = "one-more";
    EXPECT_THROW(put_hook(*admin, hook), Error);
}

HookEvent event(const char* body) {
    return {.delivery = "d-1", .headers = {{"x-event", "push"}}, .body = body};
}

TEST(HookMapping, input_and_key_come_from_the_event) {
    const Hook hook = read(R"({
        "scheme": "github", "workflow": "w",
        "key": "${ body.repository }-${ body.number }",
        "when": "headers['x-event'] == 'push'",
        "input": {"number": "${ body.number }", "by": "${ delivery }", "fixed": true}
    })");
    const HookAct act = act_of(hook, event(R"({"number": 7, "repository": "ebb"})"));
    EXPECT_TRUE(act.is_wanted);
    EXPECT_EQ(act.key, "ebb-7");
    EXPECT_EQ(Json::parse(act.input), Json({{"number", 7}, {"by", "d-1"}, {"fixed", true}}));
}

TEST(HookMapping, without_templates_the_delivery_is_the_key_and_the_body_the_input) {
    const Hook hook = read(R"({"scheme": "github", "workflow": "w"})");
    const char* body = R"({"amount": 12345678901234567890123.450})";
    const HookAct act = act_of(hook, event(body));
    EXPECT_EQ(act.input, body);
    EXPECT_THAT(act.key, StartsWith("~hook-"));
    EXPECT_EQ(act.key, act_of(hook, event(R"({"other": 1})")).key);
    HookEvent other = event(body);
    other.delivery = "d-2";
    EXPECT_NE(act.key, act_of(hook, other).key);
}

TEST(HookMapping, an_event_that_is_not_wanted_needs_no_key) {
    const Hook hook = read(R"~({"scheme": "github", "workflow": "w", "key": "${ body.id }",
                                "when": "has(body.id)"})~");
    EXPECT_FALSE(act_of(hook, event("{}")).is_wanted);
    EXPECT_EQ(act_of(hook, event(R"({"id": 5})")).key, "5");
}

TEST(HookMapping, refuses_what_it_cannot_map) {
    const Hook hook = read(R"({"scheme": "github", "workflow": "w", "key": "${ body.id }"})");
    const auto why = [&](const std::string& body) {
        try {
            act_of(hook, event(body.c_str()));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(why("{}"), HasSubstr("key"));
    EXPECT_THAT(why("no json"), HasSubstr("body"));
    EXPECT_THAT(why(R"({"id": null})"), HasSubstr("key"));
    EXPECT_THAT(why(R"({"id": [1]})"), HasSubstr("key"));
    EXPECT_THAT(why(R"({"id": "~x"})"), HasSubstr("~"));
    EXPECT_THAT(why(R"({"id": ")" + std::string(257, 'x') + R"("})"), HasSubstr("256"));
    EXPECT_EQ(why(R"({"id": ")" + std::string(256, 'x') + R"("})"), "accepted");
}

}  // namespace
}  // namespace ebb::hooks
