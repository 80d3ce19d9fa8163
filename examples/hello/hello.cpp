// The smallest Ebb program: two handlers, one workflow, one instance, all in this process's memory.
// With an installed Ebb (see ../README.md for CMake):
//
//   c++ -std=c++20 hello.cpp -o hello $(pkg-config --cflags --libs ebb)
#include <iostream>
#include <string>

#include <ebb/ebb.h>

//! [hello]
int main() {
    ebb::HandlerRegistry handlers;
    handlers.add("greet", [](const std::string& name) { return "Hello, " + name; });
    handlers.add("shout", [](const std::string& text) { return text + "!"; });

    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::Engine engine(*store, handlers);
    engine.register_workflow(ebb::WorkflowBuilder("hello").step("greet").step("shout").build());

    const ebb::InstanceId id = engine.start("hello", ebb::Payload::of("world")).id;
    const ebb::Result result = engine.wait(id);
    std::cout << result.status << ": " << result.output << "\n";
    return result.status == ebb::InstanceStatus::Completed ? 0 : 1;
}

//! [hello]
