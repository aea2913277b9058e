# Makes the script of reports and puts it, the style and the licences into a C++ file.
# cmake -DSOURCE=<sim/report/web> -DFOLDER=<work folder> [-DNODE=<node> -DNPM=<npm> -DREQUIRED=ON]
#       -P bundle.cmake
# Writes FOLDER/web_assets.cpp in any case. Without Node, or where its packages cannot be had (no
# network), the script in it is empty: reports then have their static pictures. That is an error only
# where it is REQUIRED. FOLDER/failed says that it was tried; the next configuring tries again.
cmake_minimum_required(VERSION 3.22)

file(REMOVE ${FOLDER}/failed ${FOLDER}/bundle.js ${FOLDER}/THIRD_PARTY_LICENSES)
file(MAKE_DIRECTORY ${FOLDER})

# Sets `problem` if it fails. Later calls then do nothing.
set(problem "")
macro(attempt what seconds)
  if(problem STREQUAL "")
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} TIMEOUT ${seconds}
      RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status STREQUAL "0")
      set(problem "${what}: ${status}")
      file(WRITE ${FOLDER}/failed "${what}: ${status}\n${output}")
    endif()
  endif()
endmacro()

set(sources package.json package-lock.json .npmrc bundle.mjs)
file(GLOB modules RELATIVE ${SOURCE} ${SOURCE}/*.js)
if(NODE AND NPM)
  file(GLOB old_modules ${FOLDER}/*.js)
  if(old_modules)
    file(REMOVE ${old_modules})
  endif()
  foreach(name IN LISTS sources modules)
    configure_file(${SOURCE}/${name} ${FOLDER}/${name} COPYONLY)
  endforeach()
  # Packages are fetched again only when the list of them has changed.
  file(SHA256 ${FOLDER}/package-lock.json wanted)
  set(installed "")
  if(EXISTS ${FOLDER}/node_modules/.installed)
    file(READ ${FOLDER}/node_modules/.installed installed)
  endif()
  if(NOT installed STREQUAL wanted)
    # One retry, after a second: a machine without a network must not wait for minutes.
    attempt("npm ci" 180 ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline
      --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=30000)
    if(problem STREQUAL "")
      file(WRITE ${FOLDER}/node_modules/.installed ${wanted})
    endif()
  endif()
  attempt("node bundle.mjs" 120 ${NODE} ${FOLDER}/bundle.mjs ${FOLDER})
  if(NOT problem STREQUAL "")
    if(REQUIRED)
      message(FATAL_ERROR "gradcast: WITH_WEB=ON, but ${problem}; see ${FOLDER}/failed")
    endif()
    message("gradcast: reports will have static pictures only (${problem}; see ${FOLDER}/failed)")
  endif()
endif()

# The end of a raw string must not occur in its text. The standard's 64 KiB are a minimum that
# compilers must accept, not a limit.
function(as_string out file)
  set(text "")
  if(EXISTS ${file})
    file(READ ${file} text)
  endif()
  string(FIND "${text}" ")web_asset\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "gradcast: ${file} has the end of a raw string in it")
  endif()
  set(${out} "R\"web_asset(${text})web_asset\"" PARENT_SCOPE)
endfunction()
as_string(style ${SOURCE}/report.css)
as_string(script ${FOLDER}/bundle.js)
as_string(licenses ${FOLDER}/THIRD_PARTY_LICENSES)
file(WRITE ${FOLDER}/web_assets.cpp "// Made by bundle.cmake.
#include \"sim/report/web_assets.hpp\"

namespace gradcast {

std::string_view report_style() { return ${style}; }
std::string_view report_script() { return ${script}; }
std::string_view report_licenses() { return ${licenses}; }

}  // namespace gradcast
")
