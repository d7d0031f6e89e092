// SPDX-License-Identifier: Apache-2.0
#include "vp/images/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "vp/images/file.h"

namespace vp::images {
namespace {

constexpr std::size_t piece = std::size_t{1} << 20;  // bytes of a file that are read at once

std::string text_of(const unsigned char* digest, unsigned length) {
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace

std::string sha256(const void* data, std::size_t size) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (EVP_Digest(data, size, digest, &length, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("libcrypto does not offer SHA-256");
  return text_of(digest, length);
}

std::string sha256_of_file(const std::filesystem::path& file) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("libcrypto does not offer SHA-256");
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> bytes(piece);
  while (stream.read(bytes.data(), static_cast<std::streamsize>(piece)) || stream.gcount() > 0)
    EVP_DigestUpdate(context.get(), bytes.data(), static_cast<std::size_t>(stream.gcount()));
  if (!stream.eof())
    throw Mistake(fmt::format("it cannot be read: {}", std::strerror(errno)),
                  "check its permissions");
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(context.get(), digest, &length);
  return text_of(digest, length);
}

}  // namespace vp::images
