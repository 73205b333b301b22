/* A program that gets libibverbs with a plugin, as MPI libraries do: neither is in the scope of all. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
  void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (count < 2 || plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*entry)(int, char **) = (int (*)(int, char **))dlsym(plugin, "main");
  return entry(count - 1, arguments + 1);
}
