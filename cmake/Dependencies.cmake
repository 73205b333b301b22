# Every library comes from a package of Debian 12 or 13 (scripts/packages.txt). What only tests and benchmarks use (GoogleTest,
# Google Benchmark, UCX) is linked by name where it is used: the demonstration is built without.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost's own configuration, which CMake of Debian 12 finds, too
endif()
find_package(Boost 1.81 REQUIRED COMPONENTS json)

pkg_check_modules(ibverbs REQUIRED IMPORTED_TARGET libibverbs)
pkg_check_modules(rdmacm REQUIRED IMPORTED_TARGET librdmacm)
pkg_check_modules(nl REQUIRED IMPORTED_TARGET libnl-3.0 libnl-route-3.0)
pkg_check_modules(mnl REQUIRED IMPORTED_TARGET libmnl)
pkg_check_modules(nfq REQUIRED IMPORTED_TARGET libnetfilter_queue)
pkg_check_modules(nftables REQUIRED IMPORTED_TARGET libnftables)
pkg_check_modules(pq REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(bpf REQUIRED IMPORTED_TARGET libbpf)

# Static: longhaul-bench is started for each run, and each shared library is looked up then.
find_library(ZSTD libzstd.a REQUIRED)
find_library(ABSL_THROW_DELEGATE libabsl_throw_delegate.a REQUIRED)
find_library(ABSL_RAW_LOGGING libabsl_raw_logging_internal.a REQUIRED)

find_program(CCACHE ccache)
if(CCACHE)
  # One cache serves every preset's build directory and every checkout.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
