# libsodium, which hashes passwords. Gives Sodium::sodium.
find_path(Sodium_INCLUDE_DIR sodium.h)
find_library(Sodium_LIBRARY sodium)
if(Sodium_INCLUDE_DIR)
  file(STRINGS "${Sodium_INCLUDE_DIR}/sodium/version.h" line REGEX "define SODIUM_VERSION_STRING")
  string(REGEX REPLACE ".*\"(.*)\"" "\\1" Sodium_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Sodium
  REQUIRED_VARS Sodium_LIBRARY Sodium_INCLUDE_DIR
  VERSION_VAR Sodium_VERSION)

if(Sodium_FOUND AND NOT TARGET Sodium::sodium)
  add_library(Sodium::sodium UNKNOWN IMPORTED)
  set_target_properties(
    Sodium::sodium PROPERTIES IMPORTED_LOCATION "${Sodium_LIBRARY}"
                              INTERFACE_INCLUDE_DIRECTORIES "${Sodium_INCLUDE_DIR}")
endif()
mark_as_advanced(Sodium_INCLUDE_DIR Sodium_LIBRARY)
