#include "sim/fit/fold_bytes.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace gradcast {
namespace {

/// Writes values or reads them: one list of members serves both ways, so that they cannot disagree.
class Passage {
 public:
  Passage() = default;
  explicit Passage(std::string bytes) : reading_(true), bytes_(std::move(bytes)) {}

  template <class... Values>
  void operator()(Values&... values) {
    (pass(values), ...);
  }

  std::string take() { return std::move(bytes_); }

 private:
  void raw(void* data, std::size_t size) {
    char* const begin = static_cast<char*>(data);
    if (!reading_) {
      bytes_.append(begin, size);
      return;
    }
    if (bytes_.size() - at_ < size) throw std::logic_error("a fold's bytes end too early");
    bytes_.copy(begin, size, at_);
    at_ += size;
  }

  template <class Value>
  requires std::is_arithmetic_v<Value>
  void pass(Value& value) { raw(&value, sizeof value); }

  void pass(Seconds& time) {
    double seconds = time.count();
    pass(seconds);
    time = Seconds{seconds};
  }

  /// The size of what is written, or of what comes.
  std::size_t size(std::size_t its) {
    pass(its);
    return its;
  }

  void pass(std::string& text) {
    text.resize(size(text.size()));
    raw(text.data(), text.size());
  }

  template <class Item>
  void pass(std::vector<Item>& items) {
    items.resize(size(items.size()));
    for (Item& item : items) pass(item);
  }

  template <int kColumns>
  void pass(Eigen::Matrix<double, Eigen::Dynamic, kColumns>& matrix) {
    const std::size_t rows = size(static_cast<std::size_t>(matrix.rows()));
    const std::size_t columns = size(static_cast<std::size_t>(matrix.cols()));
    matrix.resize(gradcast::at(rows), gradcast::at(columns));
    raw(matrix.data(), rows * columns * sizeof(double));
  }

  void pass(FittedParameter& p) { (*this)(p.value, p.low, p.high, p.at_bound, p.fixed); }

  void pass(IterationResult& r) {
    (*this)(r.iteration, r.forward, r.backward, r.encode, r.communication, r.exposed_communication,
            r.decode, r.update, r.overhead, r.wait, r.hidden_codec, r.rank, r.flows_simulated,
            r.engine, r.lost);
  }

  void pass(ForecastDeviations& d) { (*this)(d.own, d.shared); }

  void pass(FitForecast& f) { (*this)(f.result, f.low, f.high, f.extrapolated, f.deviations); }

  void pass(Fit& f) {
    (*this)(f.parameters, f.values, f.covariance, f.deviation, f.residuals, f.degrees, f.runs,
            f.relative_singular_value, f.not_told_apart, f.starts, f.starts_that_agree,
            f.start_spread_percent);
  }

  bool reading_ = false;
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_bytes(Fold fold) {
  Passage out;
  out(fold.fit, fold.forecasts);
  return out.take();
}

Fold fold_from_bytes(const std::string& bytes) {
  Fold fold;
  Passage in(bytes);
  in(fold.fit, fold.forecasts);
  return fold;
}

std::string to_bytes(std::vector<double> numbers) {
  Passage out;
  out(numbers);
  return out.take();
}

std::vector<double> numbers_from_bytes(const std::string& bytes) {
  std::vector<double> numbers;
  Passage in(bytes);
  in(numbers);
  return numbers;
}

}  // namespace gradcast
