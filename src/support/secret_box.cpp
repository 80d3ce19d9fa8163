#include "support/secret_box.h"

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb {

bool is_sealed(std::string_view text) {
    return text.starts_with("sealed:");
}

void throw_no_key(std::string_view place) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The secrets of this database are encrypted, that of the {} among them. Give the key: "
            "EBB_KEY names its file, and so does `ebb serve --key`.",
            place
        )
    );
}

std::string open_secret(const SecretBox* box, const std::string& stored, std::string_view place) {
    if (!is_sealed(stored)) return stored;
    if (box == nullptr) throw_no_key(place);
    return box->open(stored, place);
}

std::string stored_secret(const SecretBox* box, const std::string& secret, std::string_view place) {
    if (box == nullptr || secret.empty() || is_sealed(secret)) return secret;
    return box->seal(secret, place);
}

}  // namespace ebb
