# An engine is a folder degen/engines/<name> and its name in this list, the first is used where none is named. The folder has
# plan.{hh,cc} (planner(): what it can do, its kernel objects as data; pure) and engine.{hh,cc} (make_engine(): puts them into
# the kernel); further sources of the second half go into its sources.cmake.
set(DEGEN_ENGINES netem nfqueue edt)
