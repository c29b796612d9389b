#!/usr/bin/env bash
# The packages of the system that some tests need and pip does not install: a browser for the report, and LaTeX
# with what reads its PDF for the tables (Debian's names).
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
