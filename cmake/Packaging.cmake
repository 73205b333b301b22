# What `cmake --install` puts where, and the Debian packages that are made of it (scripts/package):
#   longhaul         the orchestrator, the lab, campaigns, the Ansible collection: on the user's machine
#   longhaul-bench   the workloads: on every end node, and where caches are simulated
#   longhaul-agent   the agent and its unit: on every node
#   longhaul-degen   the WAN emulator and its unit: on the router
#   longhaul-cache   the registration cache for other programs: needs none of the others
#   longhaul-qemu    the lab's own QEMU, ready built (scripts/package --qemu): beside longhaul
include(GNUInstallDirs)

set(share ${CMAKE_INSTALL_DATADIR}/longhaul)

# What Debian asks of each package (lintian): whose it is, a changelog of its version, and what was decided otherwise.
function(longhaul_policy component package)  # more: of each install()
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${package})
  set(copyright packaging/debian/copyright)
  if(component STREQUAL qemu)
    string(APPEND copyright .qemu)
  endif()
  install(FILES ${copyright} DESTINATION ${doc} RENAME copyright COMPONENT ${component} ${ARGN})
  install(FILES packaging/debian/overrides/${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} ${ARGN})
  set(made ${CMAKE_BINARY_DIR}/debian/${package})
  install(CODE "set(package ${package})
    set(CPACK_CMAKE_SOURCE_DIR \"${CMAKE_SOURCE_DIR}\")
    set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
    set(CPACK_PACKAGE_CONTACT \"${contact}\")
    include(\"${CMAKE_SOURCE_DIR}/cmake/PackageVersion.cmake\")
    configure_file(\"${CMAKE_SOURCE_DIR}/packaging/debian/changelog.in\" \"${made}/changelog\" @ONLY)
    execute_process(COMMAND gzip -9nf \"${made}/changelog\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component} ${ARGN})
  install(FILES ${made}/changelog.gz DESTINATION ${doc} COMPONENT ${component} ${ARGN})
endfunction()

set(contact "longhaul <longhaul@localhost>")
set(components controller bench agent degen)
set(programs longhaul longhaul-bench longhaul-agent degen)
set(packages longhaul longhaul-bench longhaul-agent longhaul-degen)
foreach(component program package IN ZIP_LISTS components programs packages)
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  set(pages ${CMAKE_BINARY_DIR}/man/${program})
  add_custom_command(OUTPUT ${pages}/${program}.1
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
    COMMAND ${CMAKE_SOURCE_DIR}/packaging/man-page ${pages} $<TARGET_FILE:${program}>
    DEPENDS ${program} ${CMAKE_SOURCE_DIR}/packaging/man-page VERBATIM)
  list(APPEND man_pages ${pages}/${program}.1)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component} FILES_MATCHING PATTERN *.gz)
  install(FILES packaging/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program} COMPONENT ${component})
  longhaul_policy(${component} ${package})
endforeach()
add_custom_target(man ALL DEPENDS ${man_pages})

if(TARGET longhaul-cache)
  # Where the dynamic linker looks: LD_PRELOAD=liblonghaul-cache.so names no folder. Not of the prefix's making, which CPack changes.
  set(libdir lib/${CMAKE_LIBRARY_ARCHITECTURE})
  install(TARGETS longhaul-cache LIBRARY DESTINATION ${libdir} COMPONENT cache)
  install(FILES registration/preload/longhaul/cache.h DESTINATION include/longhaul COMPONENT cache)
  configure_file(packaging/pkgconfig/longhaul-cache.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/longhaul-cache.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/pkgconfig/longhaul-cache.pc DESTINATION ${libdir}/pkgconfig COMPONENT cache)
  install(FILES docs/registration-cache.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/longhaul-cache COMPONENT cache)
  longhaul_policy(cache longhaul-cache)
  list(APPEND components cache)
endif()

# The lab's image is built where it is used, from these files in their places.
install(DIRECTORY lab/image DESTINATION ${share}/lab USE_SOURCE_PERMISSIONS COMPONENT controller PATTERN mend-siw EXCLUDE)
install(PROGRAMS ansible/roles/rdma/files/mend-siw DESTINATION ${share}/lab/image COMPONENT controller)  # a link in the tree
# So is its QEMU. The driver inside a sealed lab lies beside the other programs that go into images.
install(DIRECTORY lab/qemu DESTINATION ${share}/lab USE_SOURCE_PERMISSIONS COMPONENT controller PATTERN tests EXCLUDE)
# scripts/package --qemu puts one there, which lab/qemu/build takes if it is of the same source.
longhaul_policy(qemu longhaul-qemu EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/qemu/ DESTINATION lib/longhaul/qemu USE_SOURCE_PERMISSIONS COMPONENT qemu EXCLUDE_FROM_ALL OPTIONAL)
install(TARGETS longhaul-sealed RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT controller)
install(FILES common/longhaul_reg.h DESTINATION ${share}/common COMPONENT controller)
install(DIRECTORY campaigns DESTINATION ${share} COMPONENT controller)
install(DIRECTORY packaging/grafana DESTINATION ${share} COMPONENT controller)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT controller)
# Where Ansible looks for collections without being told.
install(DIRECTORY ansible/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ansible/collections/ansible_collections/longhaul/testbed
  USE_SOURCE_PERMISSIONS COMPONENT controller PATTERN tests EXCLUDE)

# A unit names its program by path, which is known at installation. `leaves`: what the service leaves behind, gone with a purge.
function(longhaul_service component unit sysusers leaves)
  set(made ${CMAKE_BINARY_DIR}/units/${unit}.service)
  install(CODE "set(bindir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    configure_file(\"${CMAKE_SOURCE_DIR}/packaging/systemd/${unit}.service.in\" \"${made}\" @ONLY)" COMPONENT ${component})
  install(FILES ${made} DESTINATION lib/systemd/system COMPONENT ${component})
  install(FILES packaging/sysusers/${sysusers}.conf DESTINATION lib/sysusers.d COMPONENT ${component})
  string(TOUPPER ${component} upper)
  foreach(script postinst prerm postrm)
    set(made ${CMAKE_BINARY_DIR}/debian/${component}/${script})
    configure_file(packaging/debian/${script}.in ${made} @ONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${made})
  endforeach()
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA} PARENT_SCOPE)
endfunction()
longhaul_service(agent longhaul-agent longhaul-agent /var/log/longhaul)
longhaul_service(degen degen longhaul-degen /run/degen)
# Outside any prefix, hence of the package alone.
install(FILES packaging/logrotate/longhaul-agent DESTINATION /etc/logrotate.d COMPONENT agent EXCLUDE_FROM_ALL)

# A checkout serves as a collection too: ANSIBLE_COLLECTIONS_PATH=build/<preset>
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/ansible_collections/longhaul)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/ansible ${CMAKE_BINARY_DIR}/ansible_collections/longhaul/testbed SYMBOLIC)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR longhaul)
set(CPACK_PACKAGE_CONTACT ${contact})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The version says which build this is: a node that has another must not be taken for up to date.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/PackageVersion.cmake)
set(CPACK_CMAKE_SOURCE_DIR ${CMAKE_SOURCE_DIR})

set(CPACK_DEBIAN_CONTROLLER_PACKAGE_NAME longhaul)
set(CPACK_DEBIAN_CONTROLLER_DESCRIPTION "orchestrator of longhaul, the WAN RDMA testbed\nRuns campaigns that compare RDMA with sockets across an emulated WAN, on a\ncluster or in a lab of micro-VMs, and reports.")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_RECOMMENDS "longhaul-bench, longhaul-agent, longhaul-degen, ansible-core, qemu-system-x86")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_SUGGESTS longhaul-qemu)
set(CPACK_DEBIAN_QEMU_PACKAGE_NAME longhaul-qemu)
set(CPACK_DEBIAN_QEMU_DESCRIPTION "QEMU of the lab of longhaul, the WAN RDMA testbed\nDebian's QEMU with processors that run in parallel in virtual time, and\ncopies by fork. GPL-2.0, see COPYING; the patches and the script that builds\nit are in the package longhaul.")
set(CPACK_DEBIAN_BENCH_PACKAGE_NAME longhaul-bench)
set(CPACK_DEBIAN_BENCH_DESCRIPTION "workloads of longhaul, the WAN RDMA testbed\nLatency, overlap, progress, CPU load, rendezvous, throughput, registration\nand transfers, over TCP sockets and RDMA verbs.")
set(CPACK_DEBIAN_BENCH_PACKAGE_RECOMMENDS "ibverbs-providers, perftest, iperf3")
set(CPACK_DEBIAN_BENCH_PACKAGE_SUGGESTS libucx0)  # the transport ucx
set(CPACK_DEBIAN_AGENT_PACKAGE_NAME longhaul-agent)
set(CPACK_DEBIAN_AGENT_DESCRIPTION "agent of longhaul, the WAN RDMA testbed\nDescribes its node, supervises workloads, passes impairments on; obeys only\ncontrollers of its testbed's own authority.")
set(CPACK_DEBIAN_AGENT_PACKAGE_DEPENDS "longhaul-bench, systemd")
set(CPACK_DEBIAN_DEGEN_PACKAGE_NAME longhaul-degen)
set(CPACK_DEBIAN_DEGEN_DESCRIPTION "WAN emulator of longhaul, the WAN RDMA testbed\nDelays and degrades what a router forwards, in a closed loop with what it\nmeasures; clears what it put into the kernel.")
set(CPACK_DEBIAN_DEGEN_PACKAGE_DEPENDS "iproute2, systemd")
set(CPACK_DEBIAN_CACHE_PACKAGE_NAME longhaul-cache)
set(CPACK_DEBIAN_CACHE_DESCRIPTION "registration cache for programs that use RDMA verbs\nKeeps registered what a program deregisters, safe against mappings that go:\npreloaded before a program that knows nothing of it, or linked.")
set(CPACK_DEBIAN_CACHE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_CACHE_PACKAGE_SUGGESTS libibverbs-dev)  # whoever links it
set(CPACK_DEBIAN_CACHE_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/cache/triggers ${CMAKE_SOURCE_DIR}/packaging/debian/cache/shlibs)
list(APPEND CPACK_DEBIAN_AGENT_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/conffiles)
include(CPack)
