// Boost.Asio itself, compiled once (BOOST_ASIO_SEPARATE_COMPILATION) and not in each file that uses it.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
