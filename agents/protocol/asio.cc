// The TLS part of Boost.Asio, compiled once (BOOST_ASIO_SEPARATE_COMPILATION); the rest is in common/asio.cc.
#include <boost/asio/ssl/impl/src.hpp>
