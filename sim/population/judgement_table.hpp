// A judgement as people and programs read it.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/population/judgement.hpp"

namespace gradcast {

std::string judgement_table(const Judgement& judgement);
std::vector<Json> judgement_rows(const Judgement& judgement);
/// Means over groups, which weigh alike.
Json judgement_summary(const Judgement& judgement);

}  // namespace gradcast
