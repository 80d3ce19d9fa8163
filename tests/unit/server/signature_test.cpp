// Goal: signed texts can be read by the signer only, and each has one spelling. Method: all short
// texts of an alphabet, and each change of one character.

#include "server/auth/signature.h"

#include <gtest/gtest.h>

namespace ebb::server {
namespace {

TEST(Base64Url, reads_what_it_writes_and_has_one_text_for_each_sequence_of_bytes) {
    std::string bytes;
    for (int i = 0; i < 70; ++i) {
        EXPECT_EQ(parse_base64url(base64url(bytes)), bytes);
        bytes += static_cast<char>(i * 37);
    }
    // Enough to have each kind of rest of the last digit.
    const std::string alphabet = "AQgw_-=";
    int valid = 0;
    for (std::size_t length = 0; length <= 4; ++length) {
        std::size_t count = 1;
        for (std::size_t i = 0; i < length; ++i) count *= alphabet.size();
        for (std::size_t number = 0; number < count; ++number) {
            std::string text;
            for (std::size_t rest = number; text.size() < length; rest /= alphabet.size()) {
                text += alphabet[rest % alphabet.size()];
            }
            const auto read = parse_base64url(text);
            if (!read) continue;
            ++valid;
            EXPECT_EQ(base64url(*read), text);
        }
    }
    EXPECT_GT(valid, 1'000);
    EXPECT_EQ(parse_base64url("AB"), std::nullopt) << "four bits are left over";
    EXPECT_EQ(parse_base64url("AAAAA"), std::nullopt);
    EXPECT_EQ(parse_base64url("A A="), std::nullopt);
}

TEST(Signer, a_token_that_was_changed_or_is_of_another_purpose_is_not_valid) {
    const Signer signer(std::string(32, 'k'));
    const std::string token = signer.sign("task", "an instance");
    EXPECT_EQ(signer.verify("task", token), "an instance");
    EXPECT_EQ(signer.verify("session", token), std::nullopt);
    EXPECT_EQ(Signer(std::string(32, 'o')).verify("task", token), std::nullopt);
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string changed = token;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        EXPECT_EQ(signer.verify("task", changed), std::nullopt) << at;
    }
    EXPECT_EQ(signer.verify("task", ""), std::nullopt);
    EXPECT_EQ(signer.verify("task", "."), std::nullopt);
}

}  // namespace
}  // namespace ebb::server
