#include "storage/journal/crc32c.hpp"

#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace baton;

TEST_CASE("CRC-32C gives the values of RFC 3720") {
  const std::string zeros(32, '\0');
  const std::string ones(32, '\xff');
  std::string up;
  std::string down;
  for (char i = 0; i < 32; ++i) {
    up += i;
    down.insert(down.begin(), i);
  }
  for (auto* sum : {&crc32c, &crc32c_by_tables}) {
    CHECK(sum(as_bytes(zeros), 0) == 0x8a9136aa);
    CHECK(sum(as_bytes(ones), 0) == 0x62a8ab43);
    CHECK(sum(as_bytes(up), 0) == 0x46dd794e);
    CHECK(sum(as_bytes(down), 0) == 0x113fdb5c);
    CHECK(sum(as_bytes("123456789"), 0) == 0xe3069283);
    CHECK(sum({}, 0) == 0);
  }
}

TEST_CASE("CRC-32C is the same by instruction and by tables, in one stretch and in two") {
  std::mt19937 random{1};
  std::vector<std::uint8_t> bytes(300);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const byte_view all{bytes.data(), size};
    const auto whole = crc32c(all);
    CHECK(whole == crc32c_by_tables(all));
    const auto cut = random() % (size + 1);
    CHECK(whole == crc32c(all.subspan(cut), crc32c(all.first(cut))));
    CHECK(whole == crc32c_by_tables(all.subspan(cut), crc32c_by_tables(all.first(cut))));
  }
}
