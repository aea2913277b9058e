// What every report carries within itself, made from sim/report/web/ when gradcast is built.
#pragma once
#include <string_view>

namespace gradcast {

/// CSS, for a page's <style>.
std::string_view report_style();

/// JavaScript, for a page's last <script>: makes pictures and tables answer. It begins with the
/// licences of what is inside. Empty where gradcast was built without Node or without a network.
std::string_view report_script();

/// The licences of what is in the script; empty when that is.
std::string_view report_licenses();

}  // namespace gradcast
