// What the precompiled header is compiled for: the library that it belongs to needs one source.
