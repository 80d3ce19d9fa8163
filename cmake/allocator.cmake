# ebb_allocator: what the programs allocate with. Much of what one thread of an engine makes is freed by another, which is
# where glibc's malloc is slow: with jemalloc a worker at full load uses a quarter less of the processor (docs/benchmarks.md).
# The libraries leave the choice to the application. Sanitizers bring an allocator of their own.
add_library(ebb_allocator INTERFACE)
if(EBB_JEMALLOC AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET jemalloc)
  target_link_libraries(ebb_allocator INTERFACE PkgConfig::jemalloc)
endif()
