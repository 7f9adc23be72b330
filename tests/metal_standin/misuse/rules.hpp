// One function for each rule of Metal's that the stand-in enforces; each breaks its rule in a way that is otherwise right.
#pragma once

#include <functional>
#include <map>
#include <string>

std::map<std::string, std::function<void()>> rules();
