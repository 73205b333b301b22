// Where the journal is written: a commit may take seconds on a slow disk, and the nodes must hear of the driver
// meanwhile.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <type_traits>
#include <utility>

#include "orchestrator/run/control.hh"

namespace longhaul::orchestrator {

/// An executor with one thread, which is not the driver's: what is written there is written in order. Empty: writing
/// holds up the driver's loop.
using Writer = boost::asio::any_io_executor;

/// Does it there and waits for it, while the loop goes on; what it throws is thrown here. What `what` refers to must
/// not change until then.
template <typename What>
Awaitable<std::invoke_result_t<What>> write_by(Writer writer, What what) {
  if (!writer) co_return what();
  auto task = [](What asked) -> Awaitable<std::invoke_result_t<What>> { co_return asked(); }(std::move(what));
  co_return co_await boost::asio::co_spawn(writer, std::move(task), boost::asio::use_awaitable);
}

}  // namespace longhaul::orchestrator
