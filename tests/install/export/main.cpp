#include <ebb/ebb.h>

namespace shop {
ebb::Definition order();
}

int main() {
    return shop::order().name == "order" ? 0 : 1;
}
