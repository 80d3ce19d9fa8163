// Goal: stored secrets are readable only with the key, at their own place and unchanged; rows are
// sealed once, and again when the key changes. Method: the real cipher, and the stores in memory.

#include "server/auth/sealing.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/engine.h>
#include <ebb/error.h>

#include "engine/webhook.h"
#include "plugins/hooks/hook.h"
#include "server/auth/sealed_rows.h"
#include "server/remote/task_token.h"

namespace ebb::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kKey(32, 'k');
const std::string kOtherKey(32, 'o');

ErrorCode code_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::Internal;
}

TEST(KeyBox, opens_what_it_has_sealed) {
    const KeyBox box(kKey);
    for (const std::string& secret : {std::string(), std::string("s"), std::string(4'096, 'x')}) {
        const std::string sealed = box.seal(secret, "hook a");
        EXPECT_TRUE(is_sealed(sealed));
        EXPECT_TRUE(box.is_current(sealed));
        EXPECT_EQ(box.open(sealed, "hook a"), secret);
        EXPECT_NE(box.seal(secret, "hook a"), sealed);
    }
    EXPECT_THAT(box.seal("hunter2", "hook a"), Not(HasSubstr("hunter2")));
}

TEST(KeyBox, opens_nothing_that_was_changed_or_moved) {
    const KeyBox box(kKey);
    const std::string sealed = box.seal("hunter2", "hook a");
    EXPECT_EQ(code_of([&] { box.open(sealed, "hook b"); }), ErrorCode::CorruptState);
    // The last digits of base64 have bits that stand for nothing.
    const std::size_t begin = std::string_view("sealed:1:12345678:").size();
    for (std::size_t i = begin; i + 2 < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        EXPECT_EQ(code_of([&] { box.open(changed, "hook a"); }), ErrorCode::CorruptState) << i;
    }
    for (const std::string& text : {std::string("sealed:"), sealed.substr(0, 20), sealed + "A"}) {
        EXPECT_THROW(box.open(text, "hook a"), Error) << text;
    }
}

TEST(KeyBox, names_the_other_key_that_it_needs) {
    const std::string sealed = KeyBox(kOtherKey).seal("hunter2", "hook a");
    const KeyBox box(kKey);
    EXPECT_FALSE(box.is_current(sealed));
    EXPECT_EQ(code_of([&] { box.open(sealed, "hook a"); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(KeyBox(kKey, kOtherKey).open(sealed, "hook a"), "hunter2");
}

TEST(KeyBox, reads_keys_of_32_bytes_only) {
    EXPECT_EQ(parse_store_key("a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="), kKey);
    std::string hex;
    for (int i = 0; i < 32; ++i) hex += "6b";
    EXPECT_EQ(parse_store_key(hex), kKey);
    for (const std::string& text : {std::string(), std::string("short"), hex + "6b", kKey}) {
        EXPECT_EQ(code_of([&] { parse_store_key(text); }), ErrorCode::InvalidArgument) << text;
    }
}

struct SealedRows : ::testing::Test {
    StorePtr store = open_memory_store({});
    std::unique_ptr<AdminStore> admin = make_memory_admin_store();
    const std::string webhook_secret = engine::make_webhook_secret();
    const std::string hook_secret = "hunter2-hunter2-hunter2";

    void fill(const SecretBox* box) {
        engine::Webhook webhook{.name = "ops", .url = "https://example.com/"};
        webhook.secret = webhook_secret;
        engine::put_webhook(*store, webhook, box);
        engine::rotate_webhook(*store, "ops", std::chrono::hours(1), box);
        hooks::Hook hook{.name = "shop", .scheme = "token", .header = "X-Token"};
        hook.secret.text = hook_secret;
        hook.workflow = "order";
        hooks::put_hook(*admin, hook, box);
        load_signer(*admin, box);
    }

    std::string all_text() const {
        std::string text;
        for (const Subscription& row : store->subscriptions()) text += row.document;
        for (const char* kind : {"hook", "key"}) {
            for (const AdminRow& row : admin->list(kind)) text += row.document;
        }
        return text;
    }

    void expect_open(const SecretBox* box) {
        const auto webhook =
            engine::with_open_secrets(engine::parse_webhook(*store->find_subscription("ops")), box);
        EXPECT_EQ(webhook.old_secret, webhook_secret);
        EXPECT_THAT(webhook.secret, StartsWith("whsec_"));
        EXPECT_EQ(hooks::open_text(*hooks::find_hook(*admin, "shop"), box), hook_secret);
    }
};

TEST_F(SealedRows, have_nothing_in_clear_text) {
    const KeyBox box(kKey);
    fill(&box);
    EXPECT_THAT(all_text(), Not(HasSubstr(hook_secret)));
    EXPECT_THAT(all_text(), Not(HasSubstr("whsec_")));
    expect_open(&box);
    EXPECT_EQ(seal_rows(*store, *admin, &box), 0);
}

TEST_F(SealedRows, are_made_of_clear_text_and_of_another_key) {
    fill(nullptr);
    EXPECT_THAT(all_text(), HasSubstr(hook_secret));
    const Signer signer = load_signer(*admin);
    const std::string signed_before = signer.sign("task", "x");
    const KeyBox old(kOtherKey);
    EXPECT_EQ(seal_rows(*store, *admin, nullptr), 0);
    EXPECT_EQ(seal_rows(*store, *admin, &old), 3);
    expect_open(&old);
    const KeyBox next(kKey, kOtherKey);
    EXPECT_EQ(seal_rows(*store, *admin, &next), 3);
    EXPECT_EQ(seal_rows(*store, *admin, &next), 0);
    const KeyBox alone(kKey);
    expect_open(&alone);
    EXPECT_THAT(all_text(), Not(HasSubstr(hook_secret)));
    EXPECT_EQ(load_signer(*admin, &alone).sign("task", "x"), signed_before);
}

TEST_F(SealedRows, are_refused_without_the_key) {
    const KeyBox box(kKey);
    fill(&box);
    EXPECT_EQ(code_of([&] { seal_rows(*store, *admin, nullptr); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code_of([&] { load_signer(*admin); }), ErrorCode::InvalidArgument);
    const KeyBox other(kOtherKey);
    EXPECT_EQ(code_of([&] { seal_rows(*store, *admin, &other); }), ErrorCode::InvalidArgument);
}

TEST_F(SealedRows, keep_their_secrets_when_other_settings_change_without_the_key) {
    const KeyBox box(kKey);
    fill(&box);
    engine::Webhook changed{.name = "ops", .url = "https://example.com/other"};
    engine::put_webhook(*store, changed);
    hooks::Hook hook{.name = "shop", .scheme = "token", .header = "X-Other"};
    hook.workflow = "order";
    hooks::put_hook(*admin, hook);
    expect_open(&box);
    // A new secret would be the only one in clear text.
    engine::Webhook another{.name = "more", .url = "https://example.com/"};
    EXPECT_EQ(code_of([&] { engine::put_webhook(*store, another); }), ErrorCode::InvalidArgument);
    hook.name = "more";
    EXPECT_EQ(code_of([&] { hooks::put_hook(*admin, hook); }), ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace ebb::server
