// kfp-worker: started by kfp itself, with its end of a socket as descriptor 3.
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "worker/protocol.hpp"
#include "worker/sandbox.hpp"
#include "worker/server.hpp"

int main() {
    struct stat about{};
    if (::fstat(kfp::worker_channel, &about) != 0 || !S_ISSOCK(about.st_mode)) {
        std::fputs("kfp-worker is a part of kfp and isn't meant to be started by hand\n", stderr);
        return 2;
    }
    for (const int number : kfp::detail::asks_to_stop) ::signal(number, SIG_IGN);
    kfp::detail::close_from(kfp::worker_channel + 1);
    // Not through exit(): destructors would run over memory that a hostile kernel may have written to.
    ::_exit(kfp::serve(kfp::worker_channel));
}
