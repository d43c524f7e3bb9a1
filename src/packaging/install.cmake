# What `cmake --install` puts where, and how programs elsewhere find it: by find_package(oriel) or by pkg-config. An installed tree may
# be moved: nothing in it names its own place.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/oriel)

set_target_properties(oriel PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)  # an MPI outside the system's folders is found again
install(TARGETS oriel EXPORT oriel_targets LIBRARY RUNTIME ARCHIVE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/oriel TYPE INCLUDE FILES_MATCHING PATTERN *.hpp)
install(EXPORT oriel_targets NAMESPACE oriel:: FILE oriel-targets.cmake DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/oriel-config.cmake.in oriel-config.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(oriel-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/oriel-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/oriel-config-version.cmake
  DESTINATION ${package_folder})

file(RELATIVE_PATH pkgconfig_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH prefix_to_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH prefix_to_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/oriel.pc.in oriel.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/oriel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
