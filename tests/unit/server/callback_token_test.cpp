// The token of a signed link says what it was made for, and nothing else says so.

#include "server/auth/callback_token.h"

#include <gtest/gtest.h>

namespace ebb::server {
namespace {

const CallbackToken kToken{
    .instance = *InstanceId::parse("019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d"),
    .token = 3,
    .visit = 7,
    .role = "boss \"&\" more",
    .by = "mail:ann@example.com",
    .expires_at = TimePoint(std::chrono::microseconds(1'795'440'000'000'001)),
};

TEST(CallbackToken, is_what_it_was_and_always_the_same_text) {
    const Signer signer(std::string(32, 'k'));
    const std::string text = sign_callback(signer, kToken);
    EXPECT_EQ(read_callback(signer, text), kToken);
    EXPECT_EQ(sign_callback(signer, kToken), text);
    // It is a part of a path.
    EXPECT_EQ(
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."),
        std::string::npos
    );
}

TEST(CallbackToken, ends_and_is_of_one_key_and_purpose) {
    const Signer signer(std::string(32, 'k'));
    const std::string text = sign_callback(signer, kToken);
    EXPECT_FALSE(read_callback(Signer(std::string(32, 'x')), text));
    EXPECT_FALSE(read_callback(signer, signer.sign("task", *signer.verify("callback", text))));
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string changed = text;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(read_callback(signer, changed)) << at;
        EXPECT_FALSE(read_callback(signer, text.substr(0, at))) << at;
    }
    CallbackToken later = kToken;
    later.expires_at += std::chrono::microseconds(1);
    EXPECT_NE(sign_callback(signer, later), text);
}

}  // namespace
}  // namespace ebb::server
