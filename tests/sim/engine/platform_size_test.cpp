// A platform is counted before SimGrid reads it: SimGrid would make two billion hosts until memory
// ends.
#include "sim/engine/platform_size.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kBegin =
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n";
const std::string kEnd = "</platform>\n";

std::string repeated(const std::string& word, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += word;
  return text;
}

std::string cluster(const std::string& radical, const std::string& more = "") {
  return "<cluster id='a' prefix='n' suffix='' radical='" + radical +
         "' speed='1Gf' bw='1GBps' lat='1us'" + more + "/>\n";
}

void passes(const std::string& platform) {
  CAPTURE(platform.substr(0, 300));
  CHECK_NOTHROW(require_small_platform({"x.xml", kBegin + platform + kEnd}));
}

/// The platform begins in line 4.
void refused(const std::string& platform, const std::string& says) {
  CAPTURE(platform.substr(0, 300));
  CHECK_THROWS_WITH(require_small_platform({"x.xml", kBegin + platform + kEnd}), Contains(says));
  CHECK_THROWS_AS(require_small_platform({"x.xml", kBegin + platform + kEnd}), DataError);
}

}  // namespace

TEST_CASE("as many hosts as there may be ranks pass, one more does not", "[simgrid]") {
  passes(cluster("0-16383"));
  refused(cluster("0-16384"),
          "x.xml:4: the platform has 16385 hosts up to here; the most ranks are 16384");
  refused(cluster("0-2000000000"), "x.xml:4: the platform has 2000000001 hosts");
  refused(cluster("0-8191") + cluster("0-4095,5000-9095,0"), "x.xml:5: the platform has 16385");
  refused(cluster("0-999999,0-999999,5"), "has 2000001 hosts");
  refused(
      "<zone id='z' routing='Cluster'>\n<cabinet id='c' prefix='n' suffix='' radical='0-99999'/>",
      "x.xml:5: the platform has 100000 hosts");
  refused("<zone id='z' routing='Dijkstra'>" + repeated("<host id='h' speed='1f'/>", 16'385),
          "has 16385 hosts");
  refused(repeated("<peer id='h'/>", 16'385), "has 16385 hosts");
  passes(cluster("5-3"));  // none; SimGrid says so
}

// SimGrid counts with ints, and one further than the last.
TEST_CASE("a radical is whole numbers and ranges of them", "[simgrid]") {
  passes(cluster("0, 2 - 5"));
  refused(cluster("0-2147483647"),
          "has '2147483647' in it, which is no number from 0 to 2147483646");
  refused(cluster("1e4"), "the radical of <cluster> has '1e4' in it");
  refused(cluster("-5"), "has '' in it");
  refused(cluster("0-5-9"), "has '5-9' in it");
  refused(cluster("0-&#50;000000000"), "the radical of <cluster> has '&' in it");
}

TEST_CASE("a topology says how many hosts or cables it has", "[simgrid]") {
  passes(cluster("0-59", " topology='TORUS' topo_parameters='3,4,5'"));
  refused(cluster("0-59", " topology='TORUS' topo_parameters='3000,4000,5'"), "60000000 hosts");
  passes(cluster("0-119", " topology='DRAGONFLY' topo_parameters='3,4;4,3;5,1;2'"));
  refused(cluster("0-119", " topology='DRAGONFLY' topo_parameters='3000,4;4000,3;5,1;2'"),
          "120000000 hosts");
  refused(cluster("0-119", " topology='DRAGONFLY' topo_parameters='300000,4;4,3;5,1;0'"), "hosts");
  passes(cluster("0-15", " topology='FAT_TREE' topo_parameters='2;4,4;1,2;1,2'"));
  refused(cluster("0-15", " topology='FAT_TREE' topo_parameters='2;4,4;1,2;1,200000000'"),
          "a level of the fat tree has more than 65536 cables");
  refused(cluster("0-15", " topology='FAT_TREE' topo_parameters='2;4,4;1,200000000;1,2'"),
          "cables");
  refused(cluster("0-15", " topology='FAT_&#84;REE' topo_parameters='2'"), "has '&' in it");
}

// Floyd's algorithm looks at each third host for each pair: 16,384 hosts would take days.
TEST_CASE("zones that keep all pairs are small, and all zones are few and flat", "[simgrid]") {
  const std::string hosts = repeated("<host id='h' speed='1f'/>", 1449);
  passes("<zone id='z' routing='Dijkstra'>" + hosts + "</zone>");
  refused("<zone id='z' routing='Full'>" + hosts + "</zone>", "has more than 1448 members");
  refused("<AS id='z' routing=\"FLOYD\">" + hosts + "</AS>", "has more than 1448 members");
  refused(repeated("<zone id='z' routing='None'></zone>", 4097), "more than 4096 zones");
  refused(repeated("<zone id='z' routing='None'>", 101), "in each other more than 100 deep");
  // 1024 x 8 x 1024 is 2^23, the most.
  passes(repeated("<cluster id='c' radical='0-7'/>", 1024));
  refused(repeated("<cluster id='c' radical='0-7'/>", 1025),
          "8192 hosts and 1025 zones up to here");
}

TEST_CASE("nothing hides a cluster", "[simgrid]") {
  const std::string large = cluster("0-99999");
  passes("<!-- " + large + " -->\n<!-- -- ------ -->\n");
  refused("<!---->" + large, "100000 hosts");
  refused("<?x <!-- ?>" + large + "<!-- -->", "100000 hosts");
  refused("<!-- ---> <? --> " + large + " ?>", "x.xml:4: this is no XML of a platform: a comment");
  refused("<prop id='x' value='<!--'/>" + large + "<prop id='x' value='-->'/>",
          "'<' stands in quotes");
  refused("<prop id='>' value=\"'\"/>" + large + "<prop id='x' value=\"'\"/>", "100000 hosts");
  refused("<![CDATA[" + large + "]]>", "'<!' begins neither a comment nor a DOCTYPE");
  refused("<cluster\n\tradical\n=\n\"0-99999\"/>", "100000 hosts");
  CHECK_THROWS_WITH(require_small_platform({"x.xml", "<!DOCTYPE platform [<!ENTITY a \"b\">]>"}),
                    Contains("x.xml:1: this is no XML of a platform: the DOCTYPE declares"));
}

TEST_CASE("text that is no XML ends in one line too", "[simgrid]") {
  for (const char* text : {"<", "</", "<a", "<a b", "<a b=", "<a b='", "<a b=c>", "<!--", "<?",
                           "<!", "<!DOCTYPE", "<a 'b'>", "<a/ >", "< a>"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(require_small_platform({"x.xml", text}), DataError);
  }
  for (const char* text : {"", "hello\n", "<a>", "<a/>", "</a>", "</zone></AS>", "<a b='&lt;'>"})
    CHECK_NOTHROW(require_small_platform({"x.xml", text}));
}
