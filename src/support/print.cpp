#include <ostream>

#include <ebb/print.h>

namespace ebb::detail {

std::ostream& print(std::ostream& out, std::string_view text) {
    return out << text;
}

}  // namespace ebb::detail
