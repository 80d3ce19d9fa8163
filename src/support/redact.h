#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace ebb {

/// Hides secrets in text that is about to be recorded or shown. A secret is found as it is, with
/// any of its characters percent-encoded or escaped as JSON does, and inside base64. What two
/// overlapping secrets cover is hidden as a whole, so the order of secrets does not matter.
/// Immutable.
class Redactor {
 public:
    /// Secrets with fewer bytes than this are indistinguishable from ordinary words and stay.
    static constexpr std::size_t kSecretBytesMin = 4;
    static constexpr std::string_view kMark = "[redacted]";

    /// Where a text may have been cut before it came here. At such an edge, a part of a secret
    /// with at least kSecretBytesMin bytes is hidden as well.
    enum class Cut { None, Front, Back, Both };

    Redactor() = default;
    explicit Redactor(
        const std::vector<std::string>& secrets, std::size_t bytes_min = kSecretBytesMin
    );
    /// The secrets are the strings inside a JSON object, at any depth. Throws Error with
    /// InvalidPayload if it holds anything else.
    static Redactor of(const Json& secrets);

    std::string text(std::string_view text, Cut cut = Cut::None) const;
    /// Redacts all of `text` first and then cuts it as clean_text does.
    std::string excerpt(std::string_view text, std::size_t bytes_max) const;
    /// JSON text: its strings and keys, however they are escaped. Text that is not JSON is treated
    /// as plain text.
    Payload payload(const Payload& payload, Cut cut = Cut::None) const;

    bool is_empty() const { return needles_.empty(); }

 private:
    struct Needle {
        std::string text;
        bool is_base64 = false;
    };

    struct Span {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    void add(std::string secret);
    void add_base64(std::string_view secret);
    Span find_at(std::string_view text, std::size_t at, bool is_cut_behind) const;
    std::size_t cut_prefix(std::string_view text) const;
    std::vector<Span> find(std::string_view text, Cut cut) const;
    Json clean(const Json& value, Cut cut) const;

    std::vector<Needle> needles_;  // the longest first
    std::array<bool, 256> starts_{};
};

/// A database URL as it may be shown: without the password of the user and without every parameter
/// that holds one. Of a URL that is ambiguous because special characters in a password were not
/// encoded, everything that may belong to the password is left out.
std::string url_without_secrets(std::string_view url);

}  // namespace ebb
