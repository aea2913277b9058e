#include "sim/inputs/family_costs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_words.hpp"

namespace gradcast {
namespace {

/// Spread of the logarithms of two members' times, at least: few were timed. Stacks take the same.
constexpr double kLeastSpread = 1;
constexpr double kQuantile90 = 1.645;  // of a normal distribution, for a 90 % interval

/// Costs of the members, for one type of gradients.
std::vector<CompressorCosts> members_of(const CostTable& table, Family family, NumberType type) {
  const std::shared_ptr<const CostTable> shared(std::shared_ptr<void>(), &table);
  std::vector<CompressorCosts> members;
  for (const Compressor* each : all_compressors()) {
    if (each->family != family) continue;
    CostChoice choice{.compressor = std::string(each->name), .input_type = type};
    choice.parameter = cost_parameter(*each, each->parameter.usual);
    try {
      members.emplace_back(shared, choice);
    } catch (const DataError&) {  // the table has no rows of it
    }
  }
  return members;
}

/// Mean and spread of the members' times, as logarithms.
class Times {
 public:
  void add(Seconds time) {
    const double log = std::log(std::max(time.count(), kShortest));
    sum_ += log;
    squares_ += log * log;
    ++count_;
  }
  Seconds mean() const { return Seconds{std::exp(sum_ / count_)}; }
  double spread() const {
    return std::sqrt(std::max(0.0, squares_ / count_ - sum_ / count_ * (sum_ / count_)));
  }

 private:
  static constexpr double kShortest = 1e-12;
  double sum_ = 0;
  double squares_ = 0;
  double count_ = 0;
};

CostRow row_at(const CostRow& point, const std::vector<CompressorCosts>& members,
               const Compressor& compressor) {
  Times encode;
  Times decode;
  double own = 0;  // the members' own uncertainty
  for (const CompressorCosts& member : members) {
    const CostEstimate its = member.of(point.elements, point.density, point.workers);
    encode.add(its.encode);
    decode.add(its.decode);
    own = std::max({own, std::log(its.factors.high), -std::log(its.factors.low)});
  }
  CostRow row = point;
  row.compressor = compressor.name;
  row.mode.clear();
  row.implementation = kOfFamily;
  row.parameter = 0;
  row.selected = static_cast<double>(wanted_elements(row.elements, row.density));
  row.encode = row.encode_p95 = encode.mean();
  row.decode = row.decode_p95 = decode.mean();
  row.samples = 0;
  row.evidence = "derived";
  const double between = kQuantile90 * std::max({kLeastSpread, encode.spread(), decode.spread()});
  row.factors.high = std::exp(std::hypot(between, own));
  row.factors.low = 1 / row.factors.high;
  return row;
}

}  // namespace

CostTable family_costs(const CostTable& table, const Compressor& compressor) {
  CostTable made{table.name, {}, table.device};
  std::set<NumberType> types;
  for (const CostRow& row : table.rows) types.insert(row.input_type);
  for (const NumberType type : types) {
    const std::vector<CompressorCosts> members = members_of(table, compressor.family, type);
    if (members.empty()) continue;
    const CompressorCosts& fullest =
        *std::ranges::max_element(members, {}, [](const auto& each) { return each.rows().size(); });
    if (fullest.rows().front()->input_type != type) continue;  // another type's rows answered
    for (const CostRow* point : fullest.rows())
      made.rows.push_back(row_at(*point, members, compressor));
  }
  if (!made.rows.empty()) return made;
  throw DataError(table.name, 0,
                  "has costs neither of '" + std::string(compressor.name) + "' nor of any of the " +
                      std::string(family_text(compressor.family)) +
                      ": give them with a property 'costs' in its file, or with --costs");
}

}  // namespace gradcast
