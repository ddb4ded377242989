# For CMAKE_TOOLCHAIN_FILE: the compilers of Debian for another architecture. OCIRUN_TRIPLET is the prefix of their names, as
# aarch64-linux-gnu; CMAKE_SYSROOT is a directory that `sysroot` has made.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OCIRUN_TRIPLET)
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${OCIRUN_TRIPLET})
set(CMAKE_CXX_COMPILER ${OCIRUN_TRIPLET}-g++)
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Debian's directory of libraries: i386-linux-gnu has the libraries for the compiler i686-linux-gnu.
string(REGEX REPLACE "^i686" "i386" CMAKE_LIBRARY_ARCHITECTURE ${OCIRUN_TRIPLET})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
# The compiler's own directory has a libc too, of the compiler's distribution. crt1.o has to be of the same libc as libc.a: with another
# one, a static program may die at its start.
set(libraries ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${libraries} -B${libraries}")
# ld of Debian 12 dies when it links the static program for riscv64.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL riscv64)
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -fuse-ld=lld -B/usr/lib/llvm-19/bin")
endif()
