# The warnings every target of the project is built with. Errors only where a preset says so
# (CMAKE_COMPILE_WARNING_AS_ERROR), so that a newer compiler never breaks a user's build.
add_library(ebb_warnings INTERFACE)
target_compile_options(ebb_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough
  # Designated initialisers leave out what keeps its default; that is their point.
  -Wno-missing-field-initializers)
