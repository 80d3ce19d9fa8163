#include "support/json_writer.h"

#include "support/json.h"

namespace ebb {

void JsonWriter::grow(std::size_t bytes) {
    const bool is_short = long_.empty();
    const char* begin = is_short ? short_ : long_.data();
    const auto used = static_cast<std::size_t>(at_ - begin);
    const std::size_t room = 2 * static_cast<std::size_t>(end_ - begin) + bytes;
    long_.resize(room);
    if (is_short) std::memcpy(long_.data(), short_, used);
    at_ = long_.data() + used;
    end_ = long_.data() + room;
}

std::string JsonWriter::take() {
    if (long_.empty()) return {short_, static_cast<std::size_t>(at_ - short_)};
    long_.resize(static_cast<std::size_t>(at_ - long_.data()));
    return std::move(long_);
}

void JsonWriter::any_string(std::string_view text) {
    if (!is_plain(text)) return raw(to_text(Json(std::string(text))));
    room(text.size() + 2);
    at_ = put_plain(at_, text);
}

}  // namespace ebb
