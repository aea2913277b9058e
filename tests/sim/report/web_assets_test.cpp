#include "sim/report/web_assets.hpp"

#include <catch2/catch.hpp>
#include <string_view>

using namespace gradcast;

namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("what a report carries cannot end the element that it stands in", "[report]") {
  CHECK(holds(report_style(), "--ink:"));
  CHECK_FALSE(holds(report_style(), "</"));
  CHECK_FALSE(holds(report_script(), "</script"));
  CHECK_FALSE(holds(report_script(), "<!--"));
}

TEST_CASE("a report's script comes with the licences of what is inside, or not at all",
          "[report]") {
  CHECK(report_script().empty() == report_licenses().empty());
  CHECK(holds(report_script(), report_licenses()));
  if (!report_script().empty()) {
    CHECK(report_script().starts_with("/*!"));
    CHECK(holds(report_licenses(), "@observablehq/plot 0.6.17 (ISC)"));
  }
}

TEST_CASE("a report's style and script name nothing to load", "[report]") {
  for (const std::string_view text : {report_style(), report_script()}) {
    CHECK_FALSE(holds(text, "@import"));
    CHECK_FALSE(holds(text, "sourceMappingURL"));
  }
  CHECK_FALSE(holds(report_style(), "url("));
}
