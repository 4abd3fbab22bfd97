# toml++, header-only. Gives TomlPlusPlus::headers.
find_path(TomlPlusPlus_INCLUDE_DIR toml++/toml.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TomlPlusPlus REQUIRED_VARS TomlPlusPlus_INCLUDE_DIR)
if(TomlPlusPlus_FOUND AND NOT TARGET TomlPlusPlus::headers)
  add_library(TomlPlusPlus::headers INTERFACE IMPORTED)
  set_target_properties(TomlPlusPlus::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                         "${TomlPlusPlus_INCLUDE_DIR}")
endif()
mark_as_advanced(TomlPlusPlus_INCLUDE_DIR)
