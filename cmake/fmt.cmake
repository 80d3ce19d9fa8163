# ebb_fmt: the headers of fmt, whose own code is compiled once, in src/support/fmt.cpp. Header-only, it would be compiled into
# every object, which doubles the time of a build; and with libfmt, programs that link an installed Ebb would need libfmt, too.
# What src/support/fmt.cpp instantiates is that of fmt 9; with another version, fmt is header-only.
add_library(ebb_fmt INTERFACE)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(ebb_fmt SYSTEM INTERFACE ${fmt_include})
  target_compile_features(ebb_fmt INTERFACE cxx_std_20)
else()
  target_link_libraries(ebb_fmt INTERFACE fmt::fmt-header-only)
endif()
