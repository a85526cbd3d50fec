// The page around the data.
#include "tools/page/page.h"

#include "tools/page/parts.h"

#include <string_view>

namespace uet::tools {
namespace {

// JSON inside a script element: no "<" in it can end the element.
std::string inside_script(const nlohmann::json& value) {
  std::string out;
  const auto text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

bool can_draw() { return !std::string_view(kD3).empty(); }

std::string page_of(const PageParts& parts, const char* name, const nlohmann::json& data) {
  std::string out = kHead;
  out += std::string("<title>") + parts.title + "</title>\n<style>\n" + kStyle + parts.style;
  out += std::string("</style>\n</head>\n<body>\n") + parts.body;
  out +=
      "<p class=\"dim\">Drawn with D3. Copyright Mike Bostock; its licence is in the source of "
      "this "
      "page.</p>\n";
  out += std::string("<script type=\"text/plain\" id=\"licence\">\n") + kLicence + "\n</script>\n";
  out += std::string("<script>\n") + kD3 + "\n</script>\n";
  out += std::string("<script>\nconst ") + name + " = " + inside_script(data) + ";\n" + kPlots;
  for (const char* script : parts.scripts) out += script;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace uet::tools
