/* gradcast as a C library: the commands as functions. Python's package calls it; C++ has
 * gradcast.hpp. Texts are UTF-8. No function throws, ends the process or installs a signal handler.
 */
#ifndef GRADCAST_H
#define GRADCAST_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gradcast_forecaster gradcast_forecaster;

/* Told while a call works, in the thread of the call. Each may be NULL. */
typedef struct gradcast_listener {
  void* user;                                                 /* the first argument of each */
  void (*answer)(void* user, const char* text, size_t bytes); /* a piece of the answer */
  void (*note)(void* user, const char* line);                 /* beside it: a warning */
  void (*error)(void* user,
                const char* line); /* one line, before a code other than 0 is returned */
  void (*progress)(void* user, size_t done, size_t all, const char* what);
  int (*stopped)(void* user); /* not 0: the call is to come to an early end */
} gradcast_listener;

/* "0.1.0" */
const char* gradcast_version(void);

/* A forecaster over a folder with models/, traces/ and platforms/; "": the installed one. NULL
 * where it holds no data; `listener` is told why. Threads may share one. */
gradcast_forecaster* gradcast_open(const char* data_folder, const gradcast_listener* listener);
void gradcast_close(gradcast_forecaster* forecaster);

/* Not 0 where a file that it read, or a folder in which it looked for names, is no longer as it
 * was: this forecaster's answers stay, and a new one's follow the files. */
int gradcast_changed(const gradcast_forecaster* forecaster);

/* Makes `text` (of that many bytes) what the path `name` stands for. Returns 0, or a code. */
int gradcast_add(const gradcast_forecaster* forecaster, const char* name, const char* text,
                 size_t bytes, const gradcast_listener* listener);

/* Runs a command: `settings` are `pairs` names, each followed by its value ("nodes", "16"); a
 * switch has "yes" or "no". `words` are those without a flag. Returns the exit code of the program:
 * 0; 2 for a wrong setting, 3 for a wrong file, 4, 5, 130 as there; 1 for a defect. */
int gradcast_run(const gradcast_forecaster* forecaster, const char* command,
                 const char* const* settings, size_t pairs, const char* const* words,
                 size_t word_count, const gradcast_listener* listener);

/* The program itself, at a terminal, with the data folder that it looks in. Returns the exit code.
 */
int gradcast_main(int argc, const char* const* argv, const char* data_folder);

#ifdef __cplusplus
}
#endif
#endif
