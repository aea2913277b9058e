// The style and script inside every report. They are made from sim/report/web/ when gradcast is
// built.
#pragma once
#include <string_view>

namespace gradcast {

/// CSS, for a page's <style>.
std::string_view report_style();

/// JavaScript for a page's last <script>. It makes pictures and tables interactive, and begins with
/// the licences of the libraries in it. Empty if gradcast was built without Node or without a
/// network.
std::string_view report_script();

/// The licences of the libraries in the script; empty if the script is.
std::string_view report_licenses();

}  // namespace gradcast
