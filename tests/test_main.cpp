#define BOOST_TEST_MODULE ocirun
#include <boost/test/unit_test.hpp>
