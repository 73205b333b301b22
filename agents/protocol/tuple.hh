// How coroutines here await: errors come as values.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace longhaul::agents {

/// co_await f(..., kTuple) gives a tuple with the error code first; without kTuple an error is thrown.
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace longhaul::agents
