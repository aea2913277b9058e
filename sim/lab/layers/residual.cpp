#include <algorithm>

#include "sim/lab/layers/layers.hpp"

namespace gradcast::lab {
namespace {

constexpr int kGroups = 4;

}  // namespace

/// Layers one after another.
template <class Real>
struct Residual<Real>::Chain {
  struct Link {
    std::string name;
    std::unique_ptr<Layer<Real>> layer;
    std::vector<Real> out{};
  };
  std::vector<Link> links;
  std::vector<Real> d_links[2];  // in turn: gradients by what flows from link to link

  void add(std::string name, std::unique_ptr<Layer<Real>> layer) {
    links.push_back({std::move(name), std::move(layer)});
  }
  Shape output() const { return links.back().layer->output(); }

  const Real* forward(const Real* parameters, const Real* in, int samples) {
    for (Link& link : links) {
      grow(link.out, static_cast<std::size_t>(samples) * link.layer->output().size());
      link.layer->forward(parameters, in, samples, link.out.data());
      parameters += parameter_count(*link.layer);
      in = link.out.data();
    }
    return in;
  }

  /// `d_in` may be null, as for layers.
  void backward(const Real* parameters, const Real* in, const Real* d_out, int samples, Real* d_in,
                Real* d_parameters) {
    std::size_t end = size();
    for (std::size_t i = links.size(); i-- > 0;) {
      Layer<Real>& layer = *links[i].layer;
      end -= parameter_count(layer);
      std::vector<Real>& d_link = d_links[i % 2];
      if (i > 0) grow(d_link, static_cast<std::size_t>(samples) * layer.input().size());
      layer.backward(parameters + end, i == 0 ? in : links[i - 1].out.data(), links[i].out.data(),
                     d_out, samples, i == 0 ? d_in : d_link.data(), d_parameters + end);
      d_out = d_link.data();
    }
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const Link& link : links) count += parameter_count(*link.layer);
    return count;
  }
};

template <class Real>
Residual<Real>::Residual(Shape input, int channels, int stride)
    : Layer<Real>(input,
                  {channels, (input.height - 1) / stride + 1, (input.width - 1) / stride + 1}),
      main_(std::make_unique<Chain>()) {
  const auto convolve = [&](Chain& chain, const std::string& name, Shape from, Kernel kernel) {
    chain.add(name, std::make_unique<Convolution<Real>>(from, channels, kernel));
  };
  const auto normalise = [&](Chain& chain, const std::string& name) {
    chain.add(name, std::make_unique<GroupNorm<Real>>(chain.output(), kGroups));
  };
  convolve(*main_, "conv1", input, {.stride = stride, .padding = 1, .bias = false});
  normalise(*main_, "norm1");
  main_->add("relu", std::make_unique<Rectifier<Real>>(main_->output()));
  convolve(*main_, "conv2", main_->output(), {.padding = 1, .bias = false});
  normalise(*main_, "norm2");
  if (this->output() == input) return;
  shortcut_ = std::make_unique<Chain>();
  convolve(*shortcut_, "shortcut", input, {.size = 1, .stride = stride, .bias = false});
  normalise(*shortcut_, "shortcut_norm");
}

template <class Real>
Residual<Real>::~Residual() = default;

template <class Real>
std::vector<ParameterTensor> Residual<Real>::parameters() const {
  std::vector<ParameterTensor> tensors;
  for (const Chain* chain : {main_.get(), shortcut_.get()}) {
    if (chain == nullptr) continue;
    for (const auto& link : chain->links)
      for (ParameterTensor tensor : link.layer->parameters()) {
        tensor.name = link.name + "." + tensor.name;
        tensors.push_back(std::move(tensor));
      }
  }
  return tensors;
}

template <class Real>
void Residual<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  const std::size_t size = static_cast<std::size_t>(samples) * this->output().size();
  const Real* main = main_->forward(parameters, in, samples);
  const Real* shortcut =
      shortcut_ ? shortcut_->forward(parameters + main_->size(), in, samples) : in;
  grow(added_, size);
  for (std::size_t i = 0; i < size; ++i) {
    added_[i] = main[i] + shortcut[i];
    out[i] = std::max(added_[i], Real{0});
  }
}

template <class Real>
void Residual<Real>::backward(const Real* parameters, const Real* in, const Real*,
                              const Real* d_out, int samples, Real* d_in, Real* d_parameters) {
  const std::size_t size = static_cast<std::size_t>(samples) * this->output().size();
  const std::size_t in_size = static_cast<std::size_t>(samples) * this->input().size();
  grow(d_added_, size);
  for (std::size_t i = 0; i < size; ++i) {
    const Real d = d_out[i];  // read in any case, so that the loop has no branch
    d_added_[i] = added_[i] > 0 ? d : Real{0};
  }
  main_->backward(parameters, in, d_added_.data(), samples, d_in, d_parameters);
  if (shortcut_) {
    if (d_in != nullptr) grow(d_shortcut_, in_size);
    shortcut_->backward(parameters + main_->size(), in, d_added_.data(), samples,
                        d_in == nullptr ? nullptr : d_shortcut_.data(),
                        d_parameters + main_->size());
  }
  if (d_in == nullptr) return;
  const std::vector<Real>& other = shortcut_ ? d_shortcut_ : d_added_;
  for (std::size_t i = 0; i < in_size; ++i) d_in[i] += other[i];
}

template class Residual<float>;
template class Residual<double>;

}  // namespace gradcast::lab
