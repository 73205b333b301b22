// What a store is opened for.
#pragma once

namespace longhaul::results {

enum class OpenMode {
  create,  ///< the campaign is made; refused when there is one already
  resume,  ///< refused when there is none; an older results.db is upgraded in place
  read     ///< changes nothing; an older results.db is upgraded in a copy in memory
};

}  // namespace longhaul::results
