# The warnings every target of the project is built with. Errors only where a preset says so
# (CMAKE_COMPILE_WARNING_AS_ERROR), so that a newer compiler never breaks a user's build.
add_library(ebb_warnings INTERFACE)
target_compile_options(ebb_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough
  # Designated initialisers leave out what keeps its default; that is their point.
  -Wno-missing-field-initializers)
# g++ 12 sees overlaps in std::string's own copies that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ebb_warnings INTERFACE -Wno-restrict)
endif()
# clang warns of std::get_temporary_buffer inside libstdc++ 12's own std::stable_sort.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(ebb_warnings INTERFACE -Wno-deprecated-declarations)
endif()
