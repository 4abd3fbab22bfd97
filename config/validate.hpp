#pragma once

#include "config/document.hpp"
#include "config/place.hpp"
#include "config/settings.hpp"

namespace baton {

/// Limits that nobody set follow the memory budget: those of which the reference says what they are
/// "unless set". `document` says what was set.
void fit_limits(settings& node, const document_table& document);

/// Reads the password files of users into their passwords.
void read_password_files(settings& node, mistakes& found);

/// What no key can know alone: things that are said twice, that name what is not there, or that do
/// not fit together. Mistakes name both places.
void validate(const settings& node, const document_table& document, mistakes& found);

}  // namespace baton
