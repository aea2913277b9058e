// The two recurrent networks in Table 1 of "Understanding Top-k Sparsification in Distributed Deep
// Learning", with as many parameters as it says.
#include "sim/generate/networks.hpp"

namespace gradcast {

// A sample is a sequence of 35 words, through which gradients go back (Zaremba et al.'s large
// model, 66,034,000 parameters; named as in models/lstm.py of hclhkbu/gtopkssgd@0edc19b). The last
// layer has a table of its own, not the embedding's.
Architecture lstm_ptb() {
  constexpr std::int64_t kWords = 10'000;
  constexpr std::int64_t kWidth = 1'500;
  Architecture net({1, 1, 35});
  net.embedding("word_embeddings", kWords, kWidth);
  net.lstm("lstm", 0, kWidth);
  net.lstm("lstm", 1, kWidth);
  net.linear_of_steps("sm_fc", kWords, true);
  return net;
}

// A sample is taken as one second of speech: 101 spectra, 10 ms apart, of 161 frequencies each (20
// ms at 16 kHz; models/lstman4.py of the same repository). Of the variants that deepspeech.pytorch
// has had this is the one with 27,569,568 parameters: convolutions with biases, padded by half
// their kernel, so that 32 x 41 features are left of a spectrum; LSTMs in one direction, with both
// biases; a normalisation before each but the first; a lookahead over 20 further steps, 21 weights
// a feature; and a last layer without biases behind a normalisation. Names are those of its
// modules.
Architecture lstm_an4() {
  constexpr std::int64_t kHidden = 800;
  Architecture net({1, 161, 101});
  net.convolution("conv.seq_module.0", 32, {41, 11, 2, 20, 5}, true);
  net.batch_norm("conv.seq_module.1");
  net.relu();  // limited above too: Hardtanh
  net.convolution("conv.seq_module.3", 32, {21, 11, 2, 10, 5, 1}, true);
  net.batch_norm("conv.seq_module.4");
  net.relu();
  net.columns_as_steps();
  for (int layer = 0; layer < 5; ++layer) {
    const std::string name = "rnns." + std::to_string(layer);
    if (layer > 0) net.batch_norm(name + ".batch_norm.module");
    net.lstm(name + ".rnn", 0, kHidden);
  }
  net.lookahead("lookahead.0", 20);
  net.relu();
  net.batch_norm("fc.0.module.0");
  net.linear_of_steps("fc.0.module.1", 29, false);
  return net;
}

}  // namespace gradcast
