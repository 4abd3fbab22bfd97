#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/topology/entities.hpp"
#include "actors/topology/refusal.hpp"
#include "config/field_value.hpp"
#include "config/result.hpp"

namespace baton {

/// The arguments of a binding to a headers exchange, made ready to be compared with headers.
///
/// `x-match` says how many must be there: all (the default) or any; other arguments whose names
/// begin with "x-" are only looked at under all-with-x and any-with-x. A void argument asks for
/// presence. `all` of nothing matches everything, `any` of nothing nothing.
class headers_matcher {
public:
  /// Refuses an x-match that is none of the four.
  static result<headers_matcher, refusal> compile(const field_table& arguments);

  bool matches(const field_table& headers) const;

private:
  bool any_ = false;
  field_table wanted_;
};

/// Whether a header satisfies a value asked for. As RabbitMQ 3.10 compares (4.x also looks at the
/// kind of number): numbers, timestamps included, by value, so 1 equals 1.0; strings and binaries
/// by their bytes; a string, a boolean and a number are never equal.
bool same_header_value(const field_value& wanted, const field_value& given);

/// The bindings of a headers exchange. A match looks at each of them: there is no order in which
/// arbitrary sets of headers could be searched faster.
class headers_index {
public:
  /// `of.arguments` have been compiled before, when the binding was accepted.
  void add(const binding& of);
  void remove(const binding& of) { rules_.erase(of.id); }
  /// Appends the destination of each binding that matches.
  void match(const field_table& headers, std::vector<const destination*>& out) const;

private:
  struct rule {
    headers_matcher matcher;
    destination to;
  };
  persistent_map<std::uint64_t, shared<rule>> rules_;
};

}  // namespace baton
