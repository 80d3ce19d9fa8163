#include "support/os_environment.h"

#include <array>
#include <cstdlib>

#include <pwd.h>
#include <unistd.h>

namespace ebb {

std::optional<std::string> environment_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

std::string user_name() {
    constexpr std::size_t kEntryBytesMax = 16 << 10;
    std::array<char, kEntryBytesMax> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    const int error = getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
    if (error == 0 && found != nullptr && *found->pw_name != '\0') return found->pw_name;
    return std::to_string(geteuid());
}

}  // namespace ebb
