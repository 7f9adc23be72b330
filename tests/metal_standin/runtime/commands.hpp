// Queues, command buffers and encoders. What is encoded is recorded, and runs on the queue's own thread once committed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "buffer.hpp"
#include "geometry.hpp"
#include "library.hpp"
#include "object.hpp"

namespace standin {

struct Copy {
    Ref<Buffer> source;
    unsigned long source_offset;
    Ref<Buffer> destination;
    unsigned long destination_offset;
    unsigned long size;
};

struct Fill {
    Ref<Buffer> buffer;
    Range range;
    std::uint8_t value;
};

struct BoundBuffer {
    Ref<Buffer> buffer;
    unsigned long offset;
};

struct Call {
    Ref<Pipeline> pipeline;
    std::map<unsigned long, std::variant<BoundBuffer, std::vector<std::byte>>> buffers;
    std::map<unsigned long, unsigned long> threadgroup_memory;
    Size grid;
    Size threadgroup;
};

using Pass = std::vector<Call>;
using Operation = std::variant<Copy, Fill, Pass>;

struct CommandError : std::runtime_error {
    CommandError(long its_code, const std::string& text) : std::runtime_error(text), code(its_code) {}
    long code;  // MTLCommandBufferError
};

// Runs on the calling thread; throws CommandError.
void execute(const Operation& operation);

class CommandBuffer;

// The thread behind a queue.
class Worker {
public:
    Worker() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}
    void submit(Ref<CommandBuffer> commands);

private:
    void serve(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<Ref<CommandBuffer>> queue_;
    std::jthread thread_;
};

class CommandQueue : public Object {
public:
    static const Class& its();
    CommandQueue() : Object(its()), worker_(std::make_shared<Worker>()) {}

    CommandBuffer* command_buffer();

private:
    std::shared_ptr<Worker> worker_;
};

class Encoder;
class ComputeEncoder;
class BlitEncoder;

class CommandBuffer : public Object {
public:
    static const Class& its();
    explicit CommandBuffer(std::weak_ptr<Worker> worker) : Object(its()), worker_(std::move(worker)) {}

    ComputeEncoder* compute_encoder(unsigned long dispatch_type);
    BlitEncoder* blit_encoder();
    void use_residency_set(ResidencySet* set);
    void commit();
    void wait();
    unsigned long status() const;
    Error* error() const;
    double start() const;
    double end() const;

    void append(Operation operation) { operations_.push_back(std::move(operation)); }
    void touch(Buffer* buffer) { touched_.push_back(Ref<Buffer>::retain(buffer)); }
    void encoder_ended() { has_open_encoder_ = false; }
    void run();  // on the worker's thread

private:
    enum State : unsigned long { recording = 0, committed = 2, completed = 4, failed = 5 };

    void open_encoder(const char* selector);
    State state() const;
    void expect_done(const char* selector) const;

    std::weak_ptr<Worker> worker_;
    std::vector<Operation> operations_;
    std::vector<Ref<Buffer>> touched_;
    std::vector<Ref<ResidencySet>> residency_sets_;
    bool has_open_encoder_ = false;
    bool waited_ = false;
    double start_ = 0.0;
    double end_ = 0.0;
    Ref<Error> error_;
    mutable std::mutex mutex_;
    std::condition_variable done_;
    State state_ = recording;
};

class Encoder : public Object {
public:
    Encoder(const Class& its_class, Ref<CommandBuffer> commands) : Object(its_class), commands_(std::move(commands)) {}
    ~Encoder() override;

protected:
    void expect_open(const char* selector) const;
    void close();
    CommandBuffer& commands() { return *commands_.get(); }

private:
    Ref<CommandBuffer> commands_;
    bool open_ = true;
};

class ComputeEncoder : public Encoder {
public:
    static const Class& its();
    explicit ComputeEncoder(Ref<CommandBuffer> commands) : Encoder(its(), std::move(commands)) {}

    void set_pipeline(Pipeline* pipeline);
    void set_buffer(Buffer* buffer, unsigned long offset, unsigned long index);
    void set_bytes(const void* bytes, unsigned long length, unsigned long index);
    void set_threadgroup_memory(unsigned long length, unsigned long index);
    void dispatch(Size grid, Size threadgroup);
    void end();

private:
    void check_geometry(Size grid, Size threadgroup) const;
    void check_bindings() const;

    Call state_;  // what the next dispatch will run with
    Pass pass_;
};

class BlitEncoder : public Encoder {
public:
    static const Class& its();
    explicit BlitEncoder(Ref<CommandBuffer> commands) : Encoder(its(), std::move(commands)) {}

    void copy(Buffer* source, unsigned long source_offset, Buffer* destination, unsigned long destination_offset,
              unsigned long size);
    void fill(Buffer* buffer, Range range, std::uint8_t value);
    void end();
};

}  // namespace standin
