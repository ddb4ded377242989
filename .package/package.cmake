# Packages by CPack (`./dev package`): three Debian packages and three RPMs. The component ocirun is the runtime with its helpers,
# ocirun-pod the programs of pods/, ocirun-shim containerd's shim, which only nodes with containerd need.
set(CPACK_PACKAGE_VENDOR ocirun)
set(CPACK_PACKAGE_CONTACT "ocirun maintainers <maintainers@ocirun.example>")
set(CPACK_COMPONENTS_ALL ocirun)
if(OCIRUN_PODS)
  list(APPEND CPACK_COMPONENTS_ALL ocirun-pod)
endif()
if(OCIRUN_SHIM)
  list(APPEND CPACK_COMPONENTS_ALL ocirun-shim)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/files.cmake)
set(CPACK_OCIRUN_FILES ${CMAKE_CURRENT_LIST_DIR})

set(synopsis "OCI container runtime")
string(CONCAT description "ocirun is the program that podman, containerd, Docker and CRI-O call to turn a\n"
  "bundle (a config.json and a root filesystem) into an isolated process. It\n"
  "implements the OCI runtime specification 1.3, and has runc's command line.")
set(pod_synopsis "pods from workload documents, without an engine")
string(CONCAT pod_description "`ocirun pod` runs the containers of a document of OAM, App Container, Knative,\n"
  "Kubernetes or Radius on one machine, with images, volumes, probes, restarts\n"
  "and logs.")
set(shim_synopsis "shim of containerd for ocirun, without Go")
string(CONCAT shim_description "containerd starts containerd-shim-ocirun-v2 for each container or pod: one\n"
  "small process that runs ocirun or another OCI runtime, moves the standard\n"
  "streams, and tells containerd of the end.")

set(scripts ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_OCIRUN_PACKAGE_NAME ocirun)
set(CPACK_DEBIAN_OCIRUN_DESCRIPTION "${synopsis}\n${description}")
set(CPACK_DEBIAN_OCIRUN_PACKAGE_MULTIARCH foreign)
if(OCIRUN_CRIU)
  set(CPACK_DEBIAN_OCIRUN_PACKAGE_RECOMMENDS criu)
endif()
set(CPACK_DEBIAN_OCIRUN_PACKAGE_CONTROL_EXTRA ${scripts}/ocirun/postinst ${scripts}/ocirun/prerm ${scripts}/ocirun/postrm)
set(CPACK_DEBIAN_OCIRUN-POD_PACKAGE_NAME ocirun-pod)
set(CPACK_DEBIAN_OCIRUN-POD_DESCRIPTION "${pod_synopsis}\n${pod_description}")
set(CPACK_DEBIAN_OCIRUN-POD_PACKAGE_MULTIARCH foreign)
set(CPACK_DEBIAN_OCIRUN-POD_PACKAGE_RECOMMENDS "iproute2, passt, skopeo")
set(CPACK_DEBIAN_OCIRUN-POD_PACKAGE_CONTROL_EXTRA ${scripts}/ocirun-pod/prerm ${scripts}/ocirun-pod/postrm)
set(CPACK_DEBIAN_OCIRUN-SHIM_PACKAGE_NAME ocirun-shim)
set(CPACK_DEBIAN_OCIRUN-SHIM_DESCRIPTION "${shim_synopsis}\n${shim_description}")
set(CPACK_DEBIAN_OCIRUN-SHIM_PACKAGE_MULTIARCH foreign)
set(CPACK_DEBIAN_OCIRUN-SHIM_PACKAGE_ENHANCES containerd)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_CHANGELOG_FILE ${CMAKE_BINARY_DIR}/rpm-changelog)
string(TIMESTAMP date "%a %b %d %Y" UTC) # of SOURCE_DATE_EPOCH
file(WRITE ${CPACK_RPM_CHANGELOG_FILE} "* ${date} ${CPACK_PACKAGE_CONTACT} - ${PROJECT_VERSION}-1\n- CHANGELOG.md in the sources has the changes.\n")
set(CPACK_RPM_MAIN_COMPONENT ocirun)
set(CPACK_RPM_OCIRUN_PACKAGE_SUMMARY "${synopsis}")
set(CPACK_RPM_OCIRUN_PACKAGE_DESCRIPTION "${description}")
set(CPACK_RPM_OCIRUN_POST_INSTALL_SCRIPT_FILE ${scripts}/ocirun/postinst)
set(CPACK_RPM_OCIRUN_PRE_UNINSTALL_SCRIPT_FILE ${scripts}/ocirun/prerm)
set(CPACK_RPM_OCIRUN_POST_UNINSTALL_SCRIPT_FILE ${scripts}/ocirun/postrm)
set(CPACK_RPM_OCIRUN-POD_PACKAGE_NAME ocirun-pod)
set(CPACK_RPM_OCIRUN-POD_PACKAGE_SUMMARY "${pod_synopsis}")
set(CPACK_RPM_OCIRUN-POD_PACKAGE_DESCRIPTION "${pod_description}")
set(CPACK_RPM_OCIRUN-POD_PRE_UNINSTALL_SCRIPT_FILE ${scripts}/ocirun-pod/prerm)
set(CPACK_RPM_OCIRUN-SHIM_PACKAGE_NAME ocirun-shim)
set(CPACK_RPM_OCIRUN-SHIM_PACKAGE_SUMMARY "${shim_synopsis}")
set(CPACK_RPM_OCIRUN-SHIM_PACKAGE_DESCRIPTION "${shim_description}")
# The same input makes the same package on another host and on another day.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost ocirun
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _build_id_links none
%define __requires_exclude CURL_OPENSSL") # a version of Debian's symbols
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ocirun)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ocirun-pod COMPONENT ocirun-pod)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ocirun-shim COMPONENT ocirun-shim)
# These directories belong to other packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/bin /usr/sbin /usr/libexec /usr/share/man /usr/share/man/man7 /usr/share/man/man8
  /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions
  /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/containers /usr/share/containers/containers.conf.d)

include(CPack)
