#pragma once

#include <string>
#include <vector>

#include <ebb/json.h>

namespace ebb {

/// Hides secrets in whatever a call gives.
class Redactor {
 public:
    /// The secrets are the texts inside `secrets`; shorter ones than `bytes_min` cannot be told
    /// from other words and stay. Throws Error with InvalidPayload when it holds anything else.
    Redactor(const Json& secrets, std::size_t bytes_min);

    std::string text(std::string text) const;
    /// JSON text: in texts and keys, however they are escaped. What is no JSON is treated as text.
    Payload payload(const Payload& payload) const;

    bool is_empty() const { return secrets_.empty(); }

 private:
    bool is_in(const Payload& payload) const;
    Json clean(const Json& value) const;
    void collect(const Json& secrets, std::size_t bytes_min);

    std::vector<std::string> secrets_;  // the longest first
};

}  // namespace ebb
