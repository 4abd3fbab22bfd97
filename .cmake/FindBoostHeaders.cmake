# Boost's headers only (Asio, Beast; JSON through boost/json/src.hpp): no compiled Boost library is
# linked. .setup/install unpacks them below build/deps where the system's package is too old to use and
# cannot be replaced (Debian 12 with libboost1.74-dev), so that place is looked at first.
# Gives Boost::headers.
find_path(
  BoostHeaders_INCLUDE_DIR boost/asio.hpp
  HINTS "${PROJECT_SOURCE_DIR}/build/deps/usr/include"
  NO_CMAKE_INSTALL_PREFIX)
if(BoostHeaders_INCLUDE_DIR)
  file(STRINGS "${BoostHeaders_INCLUDE_DIR}/boost/version.hpp" line
       REGEX "^#define BOOST_LIB_VERSION ")
  string(REGEX REPLACE ".*\"([0-9]+)_([0-9]+).*\"" "\\1.\\2" BoostHeaders_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  BoostHeaders
  REQUIRED_VARS BoostHeaders_INCLUDE_DIR
  VERSION_VAR BoostHeaders_VERSION)

if(BoostHeaders_FOUND AND NOT TARGET Boost::headers)
  add_library(Boost::headers INTERFACE IMPORTED)
  set_target_properties(Boost::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                  "${BoostHeaders_INCLUDE_DIR}")
  target_compile_definitions(Boost::headers INTERFACE BOOST_ALL_NO_LIB BOOST_ASIO_NO_DEPRECATED)
endif()
mark_as_advanced(BoostHeaders_INCLUDE_DIR)
