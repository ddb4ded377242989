# CPack reads this file for each of its generators.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package's description begins with its own
endif()
set(CPACK_DEBIAN_OCIRUN-POD_PACKAGE_DEPENDS "ocirun (= ${CPACK_PACKAGE_VERSION})")
set(CPACK_RPM_OCIRUN-POD_PACKAGE_REQUIRES "ocirun = ${CPACK_PACKAGE_VERSION}")
# The shim executes any version of ocirun, and goes on while ocirun is upgraded.
set(CPACK_DEBIAN_OCIRUN-SHIM_PACKAGE_DEPENDS "ocirun (>= ${CPACK_PACKAGE_VERSION})")
set(CPACK_RPM_OCIRUN-SHIM_PACKAGE_REQUIRES "ocirun >= ${CPACK_PACKAGE_VERSION}")
