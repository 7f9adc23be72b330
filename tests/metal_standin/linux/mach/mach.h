/* Names that metal-cpp declares functions with; nothing here uses them. */
#pragma once

typedef int kern_return_t;
typedef unsigned int task_id_token_t;
