# Toolchain: whichever clang is there, the oldest that Baton supports first (its sanitizers and
# libFuzzer are what CI runs).
find_program(CMAKE_CXX_COMPILER NAMES clang++-14 clang++ clang++-15 clang++-16 clang++-17 clang++-18
                                      clang++-19 REQUIRED)
