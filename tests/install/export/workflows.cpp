// Workflows as a user builds them: with a loop, which only the program can know.

#include <string>
#include <vector>

#include <ebb/ebb.h>

namespace shop {

const std::vector<std::string> kCities = {"Lisbon", "Porto"};

ebb::Definition order() {
    ebb::WorkflowBuilder order("order", 2);
    for (const std::string& city : kCities) order.step("pack_" + city).handler("pack");
    order.step("ship").compensate("recall");
    return order.build();
}

namespace every {

ebb::Definition night() {
    return ebb::WorkflowBuilder("clean-up").step("sweep").build();
}

}  // namespace every
}  // namespace shop

ebb::Definition refund() {
#ifdef WRONG_WORKFLOW
    return ebb::WorkflowBuilder("refund").step("pay").step("pay").build();
#elif defined(WRONG_TWICE)
    return ebb::WorkflowBuilder("order").step("pay").build();
#else
    return ebb::WorkflowBuilder("refund").step("pay").build();
#endif
}
