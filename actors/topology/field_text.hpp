#pragma once

#include <string>
#include <string_view>

#include "config/field_value.hpp"

namespace baton {

/// How RabbitMQ's texts, which clients and people match on, name a field's type: "longstr",
/// "signedint", "long", "bool", "void" and so on.
std::string_view type_text(const field_value& value);

/// A field as those texts write a term: 1000, 1.5, true, <<"text">>.
std::string term_text(const field_value& value);

/// A field within `the value '...'`: as a term, but for strings, which stand for themselves.
std::string plain_text(const field_value& value);

}  // namespace baton
