// The device's side: copies and fills here, compute passes as plans on the backing device.
#include <cstring>

#include "commands.hpp"
#include "standin.hpp"

namespace standin {
namespace {

constexpr long internal_error = 1;

template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};

std::array<std::uint32_t, 3> extent(Size size) {
    return {static_cast<std::uint32_t>(size.width), static_cast<std::uint32_t>(size.height),
            static_cast<std::uint32_t>(size.depth)};
}

// A pass as a plan: every buffer in it is state, which goes in as it is and comes back as it was left.
class PlannedPass {
public:
    explicit PlannedPass(const Pass& pass) {
        for (const Call& call : pass) add(call);
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            plan_.buffers[i].contents_offset = contents_.size();
            contents_.insert(contents_.end(), buffers_[i]->bytes(), buffers_[i]->bytes() + buffers_[i]->length());
        }
    }

    void run(kfp::Library& library) {
        const auto execution = library.prepare(plan_, contents_, {}, nullptr);
        execution->reset();
        execution->run(1);
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const auto result = execution->contents(static_cast<std::uint32_t>(i));
            std::memcpy(buffers_[i]->bytes(), result.data(), result.size());
        }
    }

private:
    void add(const Call& call) {
        kfp::Dispatch dispatch;
        dispatch.kernel = number_of_kernel(call.pipeline->info().name);
        dispatch.grid = extent(call.grid);
        dispatch.threadgroup = extent(call.threadgroup);
        for (const auto& [index, value] : call.buffers) {
            const auto at = static_cast<std::uint32_t>(index);
            std::visit(Overloaded{
                           [&](const BoundBuffer& bound) {
                               dispatch.bindings.push_back(
                                   {at, kfp::BufferBinding{number_of_buffer(bound.buffer), bound.offset}});
                           },
                           [&](const std::vector<std::byte>& bytes) {
                               dispatch.bindings.push_back({at, kfp::BytesBinding{bytes}});
                           },
                       },
                       value);
        }
        for (const auto& [index, length] : call.threadgroup_memory) {
            dispatch.bindings.push_back({static_cast<std::uint32_t>(index),
                                         kfp::ThreadgroupBinding{static_cast<std::uint32_t>(length)}});
        }
        plan_.dispatches.push_back(std::move(dispatch));
    }

    std::uint32_t number_of_kernel(const std::string& name) {
        for (std::uint32_t i = 0; i < plan_.kernels.size(); ++i) {
            if (plan_.kernels[i] == name) return i;
        }
        plan_.kernels.push_back(name);
        return static_cast<std::uint32_t>(plan_.kernels.size() - 1);
    }

    std::uint32_t number_of_buffer(const Ref<Buffer>& buffer) {
        for (std::uint32_t i = 0; i < buffers_.size(); ++i) {
            if (buffers_[i].get() == buffer.get()) return i;
        }
        buffers_.push_back(buffer);
        kfp::BufferSpec spec;
        spec.name = "buffer " + std::to_string(buffers_.size());
        spec.bytes = buffer->length();
        spec.role = kfp::BufferRole::state;
        plan_.buffers.push_back(std::move(spec));
        return static_cast<std::uint32_t>(buffers_.size() - 1);
    }

    kfp::Plan plan_;
    std::vector<Ref<Buffer>> buffers_;
    std::vector<std::byte> contents_;
};

void run_pass(const Pass& pass) {
    if (const long code = std::exchange(configuration().failing_code, 0); code != 0) {
        throw CommandError(code, "the stand-in was told to fail");
    }
    if (pass.empty()) return;
    const auto library = pass.front().pipeline->library();
    for (const Call& call : pass) {
        if (call.pipeline->library() != library) fail("a pass over two libraries, which the stand-in does not model");
    }
    try {
        PlannedPass(pass).run(*library);
    } catch (const kfp::Error& error) {
        throw CommandError(internal_error, error.what());
    }
}

}  // namespace

void execute(const Operation& operation) {
    std::visit(Overloaded{
                   [](const Copy& copy) {
                       std::memmove(copy.destination->bytes() + copy.destination_offset,
                                    copy.source->bytes() + copy.source_offset, copy.size);
                   },
                   [](const Fill& fill) {
                       std::memset(fill.buffer->bytes() + fill.range.location, fill.value, fill.range.length);
                   },
                   [](const Pass& pass) { run_pass(pass); },
               },
               operation);
}

}  // namespace standin
