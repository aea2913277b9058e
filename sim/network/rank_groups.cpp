#include "sim/network/rank_groups.hpp"

#include "sim/base/error.hpp"

namespace gradcast {

RankLayout layout_in(const RankGroups& groups, const RankLayout& layout) {
  if (groups.all()) return layout;
  throw ValueError("collectives in groups of ranks are not there yet");
}

std::vector<Phase> phases_in(const RankGroups& groups, const Collective& collective,
                             const RankLayout& layout, const CollectiveLoad& load) {
  return collective.phases(layout_in(groups, layout), load);
}

}  // namespace gradcast
