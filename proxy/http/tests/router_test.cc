#include "proxy/http/router.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proxy/protocol/auth/digest.h"

namespace evenkeel::http {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    settings_.tokens = {{"robot", protocol::auth::sha256({"t"}), answer::Rights::read}};
    gate_.admit_by(accounts_, settings_);
    router_.add("GET", "/healthz", std::nullopt, [](const Call&) { return Outcome{text_response("ok\n")}; });
    router_.add("GET", "/a/*/c", answer::Rights::read, [](const Call& call) {
      return Outcome{text_response(call.caller.user + " " + call.arguments[0])};
    });
    router_.add("POST", "/a/*/c", answer::Rights::operate,
                [](const Call&) { return Outcome{text_response("written")}; });
  }
  std::string said(const std::string& method, const std::string& target, bool token = true) {
    Request request;
    request.method = method;
    if (!split_target(target, request.path, request.query)) return "bad target";
    request.headers["host"] = "localhost";
    if (token) request.headers["authorization"] = "Bearer t";
    const Outcome outcome = router_.respond(request);
    const auto& response = std::get<Response>(outcome.what);
    return std::to_string(response.status) + " " + response.body;
  }

  std::vector<answer::Account> accounts_;
  Settings settings_;
  ManualClock clock_;
  Gate gate_{accounts_, settings_, clock_};
  Router router_{gate_};
};

TEST_F(RouterTest, FindsRoutes) {
  EXPECT_EQ(said("GET", "/healthz", false), "200 ok\n");
  EXPECT_EQ(said("HEAD", "/healthz", false), "200 ok\n");
  EXPECT_EQ(said("GET", "/a/b%2Fb/c?x=1"),
            "404 {\"error\":{\"message\":\"nothing is here\",\"status\":404}}\n");
  EXPECT_EQ(said("GET", "/a/b%20b/c?x=1"), "200 robot b b");
  EXPECT_EQ(said("GET", "/a//c").substr(0, 3), "404");
  EXPECT_EQ(said("GET", "/a/b/c", false).substr(0, 3), "401");
  EXPECT_EQ(said("POST", "/a/b/c").substr(0, 3), "403");
  EXPECT_EQ(said("PUT", "/a/b/c").substr(0, 3), "405");
  EXPECT_EQ(said("PUT", "/a/b/c"),
            "405 {\"error\":{\"message\":\"allowed here: GET, POST\",\"status\":405}}\n");
}

TEST(Target, IsSplitAndUnescaped) {
  std::string path;
  std::map<std::string, std::string> query;
  ASSERT_TRUE(split_target("/ids/a%2B?count=1%30&x=a+b&&empty&=v", path, query));
  EXPECT_EQ(path, "/ids/a+");
  EXPECT_EQ(query,
            (std::map<std::string, std::string>{{"count", "10"}, {"x", "a b"}, {"empty", ""}, {"", "v"}}));
  for (const char* bad : {"/%", "/%1", "/%zz", "/%00", "/?a=%", "/?%4=1"}) {
    std::map<std::string, std::string> ignored;
    EXPECT_FALSE(split_target(bad, path, ignored)) << bad;
  }
}

TEST(Json, ForeignBytesBecomeValidText) {
  EXPECT_EQ(error_response(400, "a\xff").body,
            "{\"error\":{\"message\":\"a\xef\xbf\xbd\",\"status\":400}}\n");
}

}  // namespace
}  // namespace evenkeel::http
