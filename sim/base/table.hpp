// Tables for people: aligned columns, plain ASCII. Programs read CSV or JSON.
#pragma once
#include <string>
#include <vector>

namespace gradcast {

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>>
      rows;  // as long as the header; an empty row is a blank line
};

/// Columns two blanks apart, under a rule; a column whose entries all begin like numbers is set to
/// the right.
std::string to_text(const TextTable& table);

/// "1.234" with so many digits after the point; never "-0.000".
std::string fixed(double value, int digits);

/// The same with its sign: "+1.2".
std::string with_sign(double value, int digits);

}  // namespace gradcast
