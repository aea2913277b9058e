#include "sim/inputs/compressor_costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

using CostColumn = std::string CostRow::*;

/// The values of a column, each once, in the order of the rows.
std::vector<std::string> values_of(const CostRows& rows, CostColumn column) {
  std::vector<std::string> values;
  for (const CostRow* row : rows)
    if (std::find(values.begin(), values.end(), row->*column) == values.end())
      values.push_back(row->*column);
  return values;
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string shown(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  quoted.reserve(values.size());
  for (const std::string& value : values) quoted.push_back("'" + value + "'");
  return values.empty() ? "none" : join(quoted);
}

void keep(CostRows& rows, CostColumn column, const std::string& value) {
  std::erase_if(rows, [&](const CostRow* row) { return row->*column != value; });
}

/// The project's own kernels, else whatever comes first.
std::string preferred_implementation(const std::vector<std::string>& made) {
  const auto own = std::find_if(made.begin(), made.end(),
                                [](const std::string& m) { return m.starts_with("gradcast"); });
  return own != made.end() ? *own : made.front();
}

/// The evidence of the rows at these densities: "measured", "published+derived".
std::string evidence_of(const CostRows& rows, const std::vector<double>& densities) {
  std::vector<std::string> evidence;
  for (const CostRow* row : rows)
    if (std::find(densities.begin(), densities.end(), row->density) != densities.end() &&
        !contains(evidence, row->evidence))
      evidence.push_back(row->evidence);
  return join(evidence, "+");
}

/// Widest 90 % factors of the rows from which a query is answered.
CostFactors factors_of(const CostGrid& grid, const CostRows& rows, double density,
                       double elements) {
  CostFactors widest;
  for (const double used : grid.densities_for(density)) {
    const std::vector<double> sizes = grid.sizes_for(used, elements);
    for (const CostRow* row : rows)
      if (row->density == used && row->factors.said() &&
          std::find(sizes.begin(), sizes.end(), static_cast<double>(row->elements)) !=
              sizes.end()) {
        widest.low = std::min(widest.low, row->factors.low);
        widest.high = std::max(widest.high, row->factors.high);
      }
  }
  return widest;
}

/// The rank of the rows that is to make a line with `known`, to `wanted`: the nearest on the other
/// side of it, else the next one on the side of `known`; 0 where there is none.
double rank_beside(const CostRows& rows, double known, double wanted) {
  double across = 0;
  double behind = 0;
  const auto nearer = [known](double rank, double than) {
    return than == 0 || std::abs(rank - known) < std::abs(than - known);
  };
  for (const CostRow* row : rows) {
    const double rank = row->parameter;
    if (rank <= 0 || rank == known) continue;
    double& its = (rank > known) == (wanted > known) ? across : behind;
    if (nearer(rank, its)) its = rank;
  }
  return across > 0 ? across : behind;
}

}  // namespace

std::string usual_implementation(const CostTable& table, std::string_view compressor) {
  CostRows its;
  for (const CostRow& row : table.rows)
    if (row.compressor == compressor) its.push_back(&row);
  return its.empty() ? "" : preferred_implementation(values_of(its, &CostRow::implementation));
}

SelectionScope parse_selection(std::string_view text) {
  if (text == "merged") return SelectionScope::Merged;
  if (text == "per-tensor") return SelectionScope::PerTensor;
  throw ValueError("'" + std::string(text) + "' is not 'merged' or 'per-tensor'");
}

std::string to_text(SelectionScope selection) {
  return selection == SelectionScope::Merged ? "merged" : "per-tensor";
}

std::vector<std::string> compressors_in(const CostTable& table) {
  std::vector<std::string> names;
  for (const Compressor* compressor : all_compressors())
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const CostRow& row) { return row.compressor == compressor->name; }))
      names.emplace_back(compressor->name);
  return names;
}

CompressorCosts::CompressorCosts(Shared<CostTable> table, const CostChoice& choice)
    : table_(std::move(table)), choice_(choice) {
  // Choices are made among the rows of single tensors, because every answer can be made from those.
  for (const CostRow& row : table_->rows)
    if (row.tensors == 1) rows_.push_back(&row);
  const std::string of_it = "has no costs of compressor '" + choice.compressor + "'";
  const std::span<const Compressor* const> all = all_low_rank();
  low_rank_ = std::any_of(all.begin(), all.end(), [&](const Compressor* compressor) {
    return compressor->name == choice.compressor;
  });
  const auto known = values_of(rows_, &CostRow::compressor);
  if (!contains(known, choice.compressor))
    throw DataError(table_->name, 0, of_it + " (it has " + shown(known) + ")");
  keep(rows_, &CostRow::compressor, choice.compressor);

  const auto require = [&](CostColumn column, const std::string& value, const char* before,
                           const char* after) {
    const auto has = values_of(rows_, column);
    if (!contains(has, value))
      throw DataError(table_->name, 0,
                      of_it + before + value + after + " (it has " + shown(has) + ")");
    keep(rows_, column, value);
  };
  if (!choice.implementation.empty())
    require(&CostRow::implementation, choice.implementation, " in implementation '", "'");
  const auto modes = values_of(rows_, &CostRow::mode);
  if (choice_.mode.empty() && !contains(modes, ""))
    choice_.mode = contains(modes, "code") ? "code" : modes.front();
  require(&CostRow::mode, choice_.mode, " in mode '", "'");
  // A table of one recorded vector is of that, and whoever names it means it.
  if (const auto inputs = values_of(rows_, &CostRow::distribution);
      inputs.size() == 1 && inputs.front().ends_with(".npy"))
    choice_.distribution = inputs.front();
  require(&CostRow::distribution, choice_.distribution, " on '", "' input");
  if (choice.implementation.empty())
    choice_.implementation = preferred_implementation(values_of(rows_, &CostRow::implementation));
  keep(rows_, &CostRow::implementation, choice_.implementation);
  choose_input_type();
  choose_parameter();

  for (const CostRow& row : table_->rows)
    if (row.tensors > 1 && row.compressor == choice_.compressor && row.mode == choice_.mode &&
        row.distribution == choice_.distribution && row.implementation == choice_.implementation &&
        row.input_type == choice_.input_type && row.parameter == choice_.parameter)
      together_.push_back(&row);
  CostGrid grid;
  for (const CostRow* row : rows_) grid.add(*row);
  grid_ = finished(std::move(grid));
}

void CompressorCosts::choose_input_type() {
  const auto of_type = [this](const CostRow* row) { return row->input_type == choice_.input_type; };
  if (std::none_of(rows_.begin(), rows_.end(), of_type)) {
    const NumberType known = rows_.front()->input_type;
    other_rows_ = "input " + std::string(to_text(choice_.input_type)) + ", and its costs are of " +
                  std::string(to_text(known));
    choice_.input_type = known;
  }
  std::erase_if(rows_, [&](const CostRow* row) { return !of_type(row); });
}

/// Rows that name no parameter serve any. Else the rows of the nearest parameter by ratio answer; a
/// parameter that is not above 0 (TernGrad without clipping) has no ratio. Of low rank, the rows of
/// one more rank give the line on which the wanted one lies.
void CompressorCosts::choose_parameter() {
  const auto distance = [this](const CostRow* row) {
    if (row->parameter == choice_.parameter) return -1.0;
    if (row->parameter == 0) return 0.0;  // before any other
    if (row->parameter <= 0 || choice_.parameter <= 0) return HUGE_VAL;
    return std::abs(std::log(row->parameter / choice_.parameter));
  };
  const auto nearest = std::min_element(
      rows_.begin(), rows_.end(),
      [&](const CostRow* a, const CostRow* b) { return distance(a) < distance(b); });
  const double known = (*nearest)->parameter;
  if (known != choice_.parameter && known != 0) {
    const double wanted = choice_.parameter;
    choice_.parameter = known;
    std::string of = number_to_text(known);
    if (low_rank_ && known > 0 && wanted > 0) {
      wanted_rank_ = wanted;
      CostChoice other = choice_;
      other.parameter = rank_beside(rows_, known, wanted);
      if (other.parameter > 0) {
        beside_ = std::make_shared<const CompressorCosts>(table_, other);
        of += " and " + number_to_text(other.parameter);
      } else {
        other_rank_ = {std::min(1.0, wanted / known), std::max(1.0, wanted / known)};
      }
    }
    other_rows_ += (other_rows_.empty() ? "" : "; ") + std::string("parameter ") +
                   number_to_text(wanted) + ", and its costs are of " + of;
  }
  std::erase_if(rows_, [&](const CostRow* row) { return row->parameter != known; });
}

/// `own` moved from the rows' rank to the wanted one, along the line through it and `beside`.
CostEstimate CompressorCosts::at_rank(CostEstimate own, const CostEstimate& beside) const {
  const double from = choice_.parameter;
  const double to = beside_->choice_.parameter;
  const double share = (wanted_rank_ - from) / (to - from);  // below 0: beyond the table's ranks
  CostEstimate end = beside;
  if (share < 0) {
    end.encode = wanted_rank_ / from * own.encode;
    end.decode = wanted_rank_ / from * own.decode;
    end.factors = own.factors;
  }
  const auto moved = [&](Seconds CostEstimate::*part) {
    const auto [low, high] = std::minmax({own.*part, end.*part});
    return std::clamp(own.*part + share * (beside.*part - own.*part), low, high);
  };
  const Seconds encode = moved(&CostEstimate::encode);
  const Seconds decode = moved(&CostEstimate::decode);
  if (const Seconds both = encode + decode; both > Seconds{0}) {
    const double here = (own.encode + own.decode) / both;
    const double there = (end.encode + end.decode) / both;
    own.factors = {std::min(here * own.factors.low, there * end.factors.low),
                   std::max(here * own.factors.high, there * end.factors.high)};
  }
  own.encode = encode;
  own.decode = decode;
  if (own.evidence.find(beside.evidence) == std::string::npos)
    own.evidence += "+" + beside.evidence;
  if (own.far_outside.empty()) own.far_outside = beside.far_outside;
  return own;
}

/// The rows of a call that encodes so many tensors of as many elements.
CostRows CompressorCosts::together(const std::vector<std::int64_t>& tensors) const {
  const std::int64_t elements = std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
  CostRows rows;
  for (const CostRow* row : together_)
    if (row->tensors == static_cast<int>(tensors.size()) && row->elements == elements)
      rows.push_back(row);
  return rows;
}

CostGrid CompressorCosts::finished(CostGrid grid) const {
  if (const std::string lacking = grid.leave_out_unfinished(); !lacking.empty())
    throw DataError(table_->name, 0, "compressor '" + choice_.compressor + "': " + lacking);
  return grid;
}

CostEstimate CompressorCosts::answer(const CostGrid& grid, const CostRows& rows,
                                     std::int64_t elements, std::int64_t wanted, double density,
                                     int workers, std::optional<double> sent_share) const {
  const auto size = static_cast<double>(elements);
  const CostPoint point = grid.at(density, size, workers);
  CostEstimate estimate;
  estimate.encode = Seconds{point.encode};
  estimate.decode = Seconds{point.decode};
  if (const std::optional<double> only = low_rank_ ? grid.only_size(density) : std::nullopt) {
    estimate.encode = estimate.encode * (size / *only);
    estimate.decode = estimate.decode * (size / *only);
  }
  estimate.selected = std::clamp<std::int64_t>(
      std::llround(point.selected_share * static_cast<double>(wanted)), 1, elements);
  estimate.calls = 1;
  estimate.mode = choice_.mode;
  estimate.implementation = choice_.implementation;
  estimate.evidence = evidence_of(rows, grid.densities_for(density));
  estimate.outside = grid.outside(density, size, workers);
  if (!other_rows_.empty())
    estimate.outside = other_rows_ + (estimate.outside.empty() ? "" : "; " + estimate.outside);
  estimate.far_outside = grid.far_outside(density, size);
  estimate.interpolated = !grid.has(density, size, workers);
  const CostFactors stated = factors_of(grid, rows, density, size);
  estimate.factors = {stated.low * other_rank_.low, stated.high * other_rank_.high};
  if (!sent_share) return estimate;
  estimate.selected = std::clamp<std::int64_t>(
      std::llround(std::min(*sent_share * static_cast<double>(wanted), size)), 1, elements);
  if (point.selected_share <= 0 || *sent_share == point.selected_share) return estimate;
  const double like = density * *sent_share / point.selected_share;
  const double within = grid.within(like, density);
  estimate.decode = Seconds{grid.at(within, size, workers).decode};
  if (within != like)
    estimate.outside += (estimate.outside.empty() ? "" : "; ") +
                        ("decode as at density " + number_to_text(rounded_to(3, within)) +
                         ", and what is sent is that of " + number_to_text(rounded_to(3, like)));
  return estimate;
}

CostEstimate CompressorCosts::of(std::int64_t elements, double density, int workers,
                                 std::optional<double> sent_share) const {
  CostEstimate own = answer(grid_, rows_, elements, wanted_elements(elements, density), density,
                            workers, sent_share);
  return beside_ ? at_rank(std::move(own), beside_->of(elements, density, workers, sent_share))
                 : own;
}

CostEstimate CompressorCosts::of_each(const std::vector<std::int64_t>& tensors, double density,
                                      int workers, std::optional<double> sent_share) const {
  if (tensors.size() == 1) return of(tensors.front(), density, workers, sent_share);
  const std::int64_t elements = std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
  const auto wanted = [&](double at_density) {
    std::int64_t sum = 0;
    for (const std::int64_t tensor : tensors) sum += wanted_elements(tensor, at_density);
    return sum;
  };
  if (const CostRows rows = together(tensors); !rows.empty()) {
    CostGrid grid;
    for (const CostRow* row : rows) grid.add(*row, wanted(row->density));
    CostEstimate own = answer(finished(std::move(grid)), rows, elements, wanted(density), density,
                              workers, sent_share);
    if (!beside_) return own;
    if (!beside_->together(tensors).empty())
      return at_rank(std::move(own), beside_->of_each(tensors, density, workers, sent_share));
    // The other rank has single calls alone: their launches would count as growth with the rank.
    const double ratio = wanted_rank_ / choice_.parameter;
    own.factors.low *= std::min(1.0, ratio);
    own.factors.high *= std::max(1.0, ratio);
    return own;
  }

  CostEstimate sum;
  TogetherFactors factors;
  for (const std::int64_t tensor : tensors) {
    const CostEstimate one = of(tensor, density, workers, sent_share);
    sum.encode += one.encode;
    sum.decode += one.decode;
    sum.selected += one.selected;
    sum.calls += one.calls;
    sum.interpolated = sum.interpolated || one.interpolated;
    if (sum.outside.empty()) sum.outside = one.outside;
    if (sum.far_outside.empty()) sum.far_outside = one.far_outside;
    sum.evidence = one.evidence;  // the same density: the same for all
    factors.add(one.factors, one.encode + one.decode);
  }
  sum.factors = factors.factors();
  sum.mode = choice_.mode;
  sum.implementation = choice_.implementation;
  return sum;
}

}  // namespace gradcast
