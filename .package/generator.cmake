# CPack reads this file for each of its generators.
if(CPACK_GENERATOR STREQUAL TGZ)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr/local)
  set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)
  execute_process(COMMAND dpkg --print-architecture OUTPUT_VARIABLE architecture OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(CPACK_PACKAGE_FILE_NAME ocirun-${CPACK_PACKAGE_VERSION}-linux-${architecture})
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package's description begins with its own
endif()
set(CPACK_DEBIAN_OCIRUN-POD_PACKAGE_DEPENDS "ocirun (= ${CPACK_PACKAGE_VERSION})")
set(CPACK_RPM_OCIRUN-POD_PACKAGE_REQUIRES "ocirun = ${CPACK_PACKAGE_VERSION}")
