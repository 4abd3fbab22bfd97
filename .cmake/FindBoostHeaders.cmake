# Boost's headers only (Asio, Beast; JSON through boost/json/src.hpp): no compiled Boost library is
# linked. Gives Boost::headers.
find_path(BoostHeaders_INCLUDE_DIR boost/asio.hpp)
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
