#include "server/assets/assets.h"

// What is linked when the UI is not built (-DEBB_UI=OFF).

namespace ebb::server {

std::span<const Asset> assets() {
    return {};
}

}  // namespace ebb::server
