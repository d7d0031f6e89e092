// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/device/description.h"
#include "models/device/device.h"
#include "models/device/section.h"
#include "vp/config/schema.h"

namespace device {

/// What a kind has beyond a description and a netlist. No kind needs any of it.
struct Traits {
  std::string noun = "device";  ///< what messages call such a device, such as `IPU`
  /// A top-level key that lists devices of this kind, which then have no key `kind`; empty: none.
  std::string list = {};
  std::string list_text = {};  ///< for the reference of all keys, in the plural
  std::size_t most = 16;       ///< devices in that list
  /// Its devices have processors of a QEMU library, which the key `qemu.KIND_library` names. This
  /// is the text of the key; empty: none.
  std::string library_text = {};
  std::string firmware = {};  ///< the key that the option --firmware sets in that list; empty: none
  std::vector<std::string> components = {};         ///< by which its models log, beside its name
  std::vector<SectionKey> (*sections)() = nullptr;  ///< further top-level keys
};

/// How a platform file describes a device.
enum class Form {
  of_any_kind,  ///< in `devices`, with the key `kind`
  listed        ///< in the list of its kind (Traits::list)
};

/// A kind of device. It knows the keys of a device in a platform file, and builds the device.
class Kind {
 public:
  /// `name` is the value of the key `kind`, and the component by which such devices log (vp/log).
  /// `text` says in a sentence what such a device is.
  Kind(std::string name, std::string text, Traits traits)
      : name_(std::move(name)), text_(std::move(text)), traits_(std::move(traits)) {}
  virtual ~Kind() = default;
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  const Traits& traits() const { return traits_; }
  /// The further top-level keys.
  std::vector<SectionKey> sections() const {
    return traits_.sections != nullptr ? traits_.sections() : std::vector<SectionKey>();
  }

  /// Reads and checks what stands at `path`. The report of `reading` has the mistakes.
  virtual DescriptionPtr read(const vp::config::Node& node, const std::string& path,
                              vp::config::Reading& reading,
                              Form form = Form::of_any_kind) const = 0;
  /// Appends the rows of a device in the list of the kind, or those of the kind's own keys.
  virtual void rows(const std::string& path, std::vector<vp::config::Row>& rows,
                    Form form = Form::of_any_kind) const = 0;
  /// Builds a device. `description` is one that read() has returned without a mistake.
  virtual std::unique_ptr<Device> build(const Description& description, const Site& site) const = 0;

 protected:
  /// Reports the faults that no device of this kind can have.
  void check_faults(const Description& description, const std::string& path,
                    vp::config::Reading& reading) const;

 private:
  const std::string name_;
  const std::string text_;
  const Traits traits_;
};

/// All kinds of the program, in the order of their names.
std::vector<const Kind*> kinds();
/// The kind of this name, or nullptr.
const Kind* find_kind(const std::string& name);

/// A kind has thrown an exception: a defect of that kind. The text names it, and the plugin from
/// which it comes.
struct KindFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Builds a device by the kind that its description names, which must be known. Throws KindFailed.
std::unique_ptr<Device> build(const Description& description, const Site& site);

/// A device of any kind as a value of a platform file: a map whose key `kind` says which further
/// keys it has. After a mistake, the value has at least the keys that all kinds have, as far as
/// they are sound. What reads or prints it throws KindFailed.
vp::config::Type<DescriptionPtr> any_kind();
/// A device in the list of its kind. What reads or prints it throws KindFailed.
vp::config::Type<DescriptionPtr> listed(const Kind& kind);

/// The text of the key `name` of each part of a machine.
std::string name_text();

/// The keys that devices of all kinds have, for the table of a struct derived from Description.
template <class D>
std::vector<vp::config::Key<D>> common_keys() {
  using namespace vp::config;
  std::vector<std::string> names;
  for (const Kind* kind : kinds()) names.push_back(kind->name());
  return {
      {"name", &Description::name, vp::config::name(), name_text(), required},
      {"kind", &Description::kind, word(names),
       "Kind of the device; its further keys are those of devices[KIND]", required},
      {"endpoint", &Description::endpoint,
       Struct<EndpointDescription>(endpoint_keys<EndpointDescription>()), "PCIe endpoint"},
  };
}

/// A kind whose devices are described by D and built as B. D is derived from Description, and B is
/// derived from Device and constructed from a module name, a D and a Site. An object of this class
/// with static storage is all that makes a kind known:
///
///     const device::Registration<Description, Disk> nvme("nvme", "An NVMe disk", own_keys);
template <class D, class B>
class Registration : public Kind {
 public:
  using Keys = std::vector<vp::config::Key<D>>;

  /// `own` returns the table of the kind's own keys. A key of it replaces the common one of that
  /// name.
  Registration(std::string name, std::string text, Keys (*own)(), Traits traits = {});
  ~Registration() override;

  DescriptionPtr read(const vp::config::Node& node, const std::string& path,
                      vp::config::Reading& reading, Form form) const override {
    const vp::config::Struct<D> keys(all_keys(form));
    const auto description = std::make_shared<D>();
    description->kind = name();
    keys.read(node, path, reading, *description);
    check_faults(*description, path, reading);
    description->check(path, reading);
    return description;
  }
  void rows(const std::string& path, std::vector<vp::config::Row>& rows, Form form) const override {
    vp::config::Struct<D>(form == Form::listed ? all_keys(form) : own_keys()).rows(path, rows);
  }
  std::unique_ptr<Device> build(const Description& description, const Site& site) const override {
    return std::make_unique<B>(description.name.c_str(), dynamic_cast<const D&>(description), site);
  }

 private:
  Keys own_keys() const {
    Keys keys = own_();
    if (D().has_faults()) {
      keys.push_back({"faults", &Description::faults, vp::config::list(fault_keys(), 0, 1000),
                      "Faults of the device itself, each as if a guest had asked for it"});
    }
    return keys;
  }
  Keys all_keys(Form form) const {
    const Keys own = own_keys();
    Keys keys;
    for (const vp::config::Key<D>& common : common_keys<D>()) {
      const bool replaced = std::any_of(own.begin(), own.end(),
                                        [&](const auto& key) { return key.name == common.name; });
      if (!replaced && !(form == Form::listed && common.name == "kind")) keys.push_back(common);
    }
    keys.insert(keys.end(), own.begin(), own.end());
    return keys;
  }

  Keys (*const own_)();
};

/// Makes a kind known, and forgets it again. Registration calls these. If there is another kind of
/// that name, KindsFrom notes the conflict, or without one std::logic_error is thrown.
void add_kind(const Kind& kind);
void remove_kind(const Kind& kind);

/// While an object of this class lives, the kinds that become known come from this plugin. All
/// others are the program's own. An exception could not pass the dynamic loader, so that conflicts
/// are noted here.
class KindsFrom {
 public:
  explicit KindsFrom(std::string plugin);
  ~KindsFrom();
  KindsFrom(const KindsFrom&) = delete;
  KindsFrom& operator=(const KindsFrom&) = delete;

  const std::string& plugin() const { return plugin_; }
  /// Which kind exists already, and where it comes from; empty if there is none.
  const std::string& conflict() const { return conflict_; }
  void note(std::string conflict) { conflict_ = std::move(conflict); }

 private:
  const std::string plugin_;
  std::string conflict_;
};

template <class D, class B>
Registration<D, B>::Registration(std::string name, std::string text, Keys (*own)(), Traits traits)
    : Kind(std::move(name), std::move(text), std::move(traits)), own_(own) {
  add_kind(*this);
}

template <class D, class B>
Registration<D, B>::~Registration() {
  remove_kind(*this);
}

}  // namespace device
