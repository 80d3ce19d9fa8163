# The warnings every target of the project is built with. Errors only where a preset says so
# (CMAKE_COMPILE_WARNING_AS_ERROR), so that a newer compiler never breaks a user's build.
add_library(ebb_warnings INTERFACE)
target_compile_options(ebb_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough
  # Designated initializers leave out what keeps its default; that is their point.
  -Wno-missing-field-initializers
  # Of sources that are compiled as one (EBB_UNITY), each sees the file-local names of the others.
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>)
# With optimization, g++ 12 warns falsely about std::string's own copies: overlaps (GCC bug 105651) and lengths of 2^64 - 1.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ebb_warnings INTERFACE
    -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# clang warns of std::get_temporary_buffer inside libstdc++ 12's own std::stable_sort.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(ebb_warnings INTERFACE -Wno-deprecated-declarations)
endif()
