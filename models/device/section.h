// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/device/description.h"
#include "vp/config/schema.h"
#include "vp/time/domain.h"

namespace device {

class Device;

/// The value of a top-level key that a kind adds to the platform file. It says something about
/// several devices of the kind, such as which of them are linked.
class Section {
 public:
  virtual ~Section() = default;

  /// Reports the mistakes that concern several values. `own` are all devices of the kind, in the
  /// order of the platform file, and each of them is sound.
  virtual void check(const std::vector<DescriptionPtr>& own, vp::config::Reading& reading) const {
    (void)own, (void)reading;
  }
  /// Connects the devices of the kind, all of which have been built. Returns what the section makes
  /// happen later; an event belongs to the domain of the device that it concerns.
  virtual std::vector<std::unique_ptr<vp::Event>> connect(
      const std::vector<Device*>& own) const = 0;
};

using SectionPtr = std::shared_ptr<const Section>;
/// The sections of a platform file by their keys. A key that the file does not have is missing.
using Sections = std::map<std::string, SectionPtr>;

/// The section of type S, which names its key as `S::key`, or nullptr.
template <class S>
const S* section(const Sections& sections) {
  const auto found = sections.find(S::key);
  return found == sections.end() ? nullptr : dynamic_cast<const S*>(found->second.get());
}

/// A top-level key that a kind adds.
struct SectionKey {
  std::string key;
  std::string text;  ///< for the reference of all keys
  vp::config::Type<SectionPtr> type;
};

/// The key of a section S that consists of this member. `kind` says what values it may have.
template <class S, class T, class Kind>
SectionKey section_key(T S::*member, const Kind& kind, std::string text) {
  const vp::config::Type<T> of_member = kind;
  vp::config::Type<SectionPtr> type;
  type.accepts = of_member.accepts;
  type.read = [of_member, member](const vp::config::Node& node, const std::string& path,
                                  vp::config::Reading& reading, SectionPtr& value) {
    const auto section = std::make_shared<S>();
    of_member.read(node, path, reading, (*section).*member);
    value = section;
  };
  type.print = [of_member, member](const SectionPtr&) { return of_member.print(S().*member); };
  type.rows = of_member.rows;
  return {S::key, std::move(text), std::move(type)};
}

}  // namespace device
