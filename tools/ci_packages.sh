#!/usr/bin/env bash
# The packages of the system that some tests need and pip does not install: a browser for the report, LaTeX
# with what reads its PDF for the tables (Debian's names), and axe-core, one file that checks the report's accessibility.
# What is there already is left alone. Tests say what they miss and are skipped, but not in CI, which runs this first.
set -euo pipefail

missing=()
command -v chromium > /dev/null && command -v chromedriver > /dev/null || missing+=(chromium chromium-driver)
# siunitx is in texlive-science and needs texlive-latex-extra; booktabs comes with these.
kpsewhich siunitx.sty translations.sty > /dev/null && command -v pdftotext > /dev/null \
    || missing+=(texlive-science texlive-latex-extra poppler-utils)

if [ "${#missing[@]}" -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq -o Acquire::Retries=3
    apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends "${missing[@]}" > /dev/null
fi

# One file of npm's registry, pinned by the SHA-512 that the registry gives for it.
axe=/usr/local/share/axe-core/axe.min.js
if [ ! -f "$axe" ]; then
    python3 - "$axe" << 'EOF'
import base64, hashlib, io, pathlib, sys, tarfile, urllib.request

ADDRESS = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz"
DIGEST = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="
content = urllib.request.urlopen(ADDRESS, timeout=60).read()
found = base64.b64encode(hashlib.sha512(content).digest()).decode()
if found != DIGEST:
    sys.exit(f"{ADDRESS}: SHA-512 {found}: must be {DIGEST}")
with tarfile.open(fileobj=io.BytesIO(content)) as archive:
    script = archive.extractfile("package/axe.min.js").read()
path = pathlib.Path(sys.argv[1])
path.parent.mkdir(parents=True, exist_ok=True)
path.write_bytes(script)
EOF
fi
