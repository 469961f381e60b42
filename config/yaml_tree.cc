#include "config/yaml_tree.h"

#include <fmt/format.h>
#include <map>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace evenkeel::config {
namespace {

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Thrown through yaml-cpp's parser, which has no other way to stop; caught in parse_yaml.
struct Stop {
  Mark mark;
  std::string why;
};

size_t count_nodes(const Node& node) {
  size_t count = 1;
  for (const Node& item : node.items) count += count_nodes(item);
  for (const auto& [key, value] : node.pairs) count += count_nodes(key) + count_nodes(value);
  return count;
}

int depth_of(const Node& node) {
  int deepest = 0;
  for (const Node& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& [key, value] : node.pairs) deepest = std::max({deepest, depth_of(key), depth_of(value)});
  return deepest + 1;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(Node::Kind::null, mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(Node::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    if (!node.quoted && tag != "?") throw Stop{node.mark, fmt::format("the tag {} is not allowed", tag)};
    add(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Stop{mark_of(mark), "an alias stands inside what it names"};
    count(count_nodes(found->second), mark_of(mark));
    check_depth(depth_of(found->second) - 1, mark_of(mark));
    attach(found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(Node::Kind::list, mark), anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(Node::Kind::map, mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  Node take_root() { return std::move(root_); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::vector<Node> key;  // of a map: the key whose value comes next, or empty
  };

  Node make(Node::Kind kind, const YAML::Mark& mark) {
    count(1, mark_of(mark));
    Node node;
    node.kind = kind;
    node.mark = mark_of(mark);
    return node;
  }
  void count(size_t nodes, Mark mark) {
    nodes_ += nodes;
    if (nodes_ > yaml_nodes_max) throw Stop{mark, fmt::format("more than {} values", yaml_nodes_max)};
  }
  void check_depth(int below, Mark mark) const {
    if (static_cast<int>(open_.size()) + below > yaml_depth_max) {
      throw Stop{mark, fmt::format("nested deeper than {} levels", yaml_depth_max)};
    }
  }
  void open(Node node, YAML::anchor_t anchor) {
    check_depth(1, node.mark);
    open_.push_back({std::move(node), anchor, {}});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }
  void add(Node node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchored_[anchor] = node;
    attach(std::move(node));
  }
  void attach(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key.empty()) {
      parent.key.push_back(std::move(node));
    } else {
      parent.node.pairs.push_back({std::move(parent.key.front()), std::move(node)});
      parent.key.clear();
    }
  }

  Node root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchored_;
  size_t nodes_ = 0;
};

Error fault(const std::string& source, Mark mark, std::string_view why) {
  return config_error(fmt::format("{}:{}:{}: {}", source, mark.line, mark.column, why));
}

}  // namespace

Result<Node> parse_yaml(std::string_view text, const std::string& source) {
  if (text.size() > yaml_bytes_max) {
    return fail(config_error(fmt::format("{}: larger than {} MiB", source, yaml_bytes_max >> 20)));
  }
  std::istringstream stream{std::string(text)};
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      return fail(fault(source, second.take_root().mark, "a second YAML document; one file holds one"));
    }
  } catch (const Stop& stop) {
    return fail(fault(source, stop.mark, stop.why));
  } catch (const YAML::Exception& broken) {
    return fail(fault(source, mark_of(broken.mark), fmt::format("not YAML: {}", broken.msg)));
  }
  return builder.take_root();
}

}  // namespace evenkeel::config
