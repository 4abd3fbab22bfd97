// Boost.JSON is used as headers only; this is the one place that compiles its bodies.
#include <boost/json/src.hpp>
