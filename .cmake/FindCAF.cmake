# CAF 0.17: Debian ships it without a CMake package or a pkg-config file.
# Gives CAF::core.
find_path(CAF_INCLUDE_DIR caf/all.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
if(CAF_INCLUDE_DIR)
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" line REGEX "^#define CAF_VERSION [0-9]+")
  string(REGEX REPLACE ".* ([0-9]+)$" "\\1" number "${line}")
  math(EXPR major "${number} / 10000")
  math(EXPR minor "${number} / 100 % 100")
  math(EXPR patch "${number} % 100")
  set(CAF_VERSION "${major}.${minor}.${patch}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CAF
  REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION)

if(CAF_FOUND AND NOT TARGET CAF::core)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(
    CAF::core PROPERTIES IMPORTED_LOCATION "${CAF_CORE_LIBRARY}"
                         INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}")
endif()
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)
