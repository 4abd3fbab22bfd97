// The one `main` of the unit test programs; the only file that compiles what Catch2 itself is made
// of.

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) { return Catch::Session{}.run(argc, argv); }
