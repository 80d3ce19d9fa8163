#pragma once

#include <string>
#include <vector>

#include <ebb/definition.h>

namespace ebb::test {

/// A workflow of samples.cpp, as the compiler sees it.
struct CppSample {
    std::string name;  ///< of the workflow
    Definition definition;
};

std::vector<CppSample> cpp_samples();

}  // namespace ebb::test
