/* The message senders; a caller casts them to the type of the method. trampolines.S defines them. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void objc_msgSend(void);
void objc_msgSend_stret(void);
void objc_msgSend_fpret(void);

#ifdef __cplusplus
}
#endif
