// Boost.Asio itself, compiled once (BOOST_ASIO_SEPARATE_COMPILATION) and not in each file that uses it. Its TLS part is
// compiled in agents/protocol, the only user.
#include <boost/asio/impl/src.hpp>
