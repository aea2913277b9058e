#!/bin/sh
# Runs a script with a Python that has torch: that of scripts/prove, else one of this machine. Ends with 77
# where there is none.
# usage: with_torch.sh SCRIPT [ARGUMENT...]
root=$(cd "$(dirname "$0")/.." && pwd)
for python in "$GRADCAST_PYTHON" "$root/build/proving-venv/bin/python" python3; do
  [ -n "$python" ] && "$python" -c "import torch" 2>/dev/null && exec "$python" "$@"
done
echo "skipped: no torch"
exit 77
