# CPack calls this script before it makes a package: adds the files that only Debian packages have, and gives all files the time
# SOURCE_DATE_EPOCH.
if(CPACK_GENERATOR STREQUAL DEB)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH
  foreach(component ${CPACK_COMPONENTS_ALL})
    set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
    file(REMOVE ${share}/doc/${component}/LICENSE) # Debian has the text
    file(COPY ${CPACK_OCIRUN_FILES}/copyright DESTINATION ${share}/doc/${component} NO_SOURCE_PERMISSIONS)
    file(WRITE ${share}/doc/${component}/changelog
      "ocirun (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md in the sources has the changes.\n\n"
      " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(COPY ${CPACK_OCIRUN_FILES}/overrides/${component} DESTINATION ${share}/lintian/overrides NO_SOURCE_PERMISSIONS)
    file(GLOB texts ${share}/man/man?/*.? ${share}/doc/${component}/changelog)
    execute_process(COMMAND gzip -9n ${texts} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
                COMMAND_ERROR_IS_FATAL ANY)
