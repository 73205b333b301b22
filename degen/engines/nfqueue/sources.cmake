set(sources nft.cc queue_message.cc queue_worker.cc rewrite.cc scheduler.cc)
set(libs PkgConfig::mnl PkgConfig::nfq PkgConfig::nftables)
