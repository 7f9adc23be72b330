/* Names that metal-cpp declares functions with; nothing here uses them. */
#pragma once

typedef struct dispatch_data_s* dispatch_data_t;
typedef struct dispatch_queue_s* dispatch_queue_t;
