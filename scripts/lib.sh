# Shared by `./test` and `.ci/run`; to be sourced by bash scripts that run at the repository's top.

# Where cargo builds, as an absolute path.
target_directory() {
    local directory=${CARGO_TARGET_DIR:-target}
    mkdir -p "$directory"
    (cd "$directory" && pwd)
}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# need COMMAND PACKAGE: installs Debian's PACKAGE where COMMAND does not run.
# COMMAND is a whole command line, whose success shows that the thing is there.
need() {
    local command=$1 package=$2
    if eval "$command" >/dev/null 2>&1; then
        return
    fi
    if ! command -v apt-get >/dev/null; then
        fail "\`$command\` does not run: install what Debian calls $package"
    fi
    if [ "$(id -u)" -ne 0 ]; then
        fail "\`$command\` does not run: install it with \`sudo apt-get install $package\`, then try again"
    fi
    echo "installing $package"
    # The lists may be missing or old, so they come first.
    apt-get update -qq </dev/null
    install_without_services "$package"
    if ! eval "$command" >/dev/null 2>&1; then
        fail "\`$command\` does not run, although $package is installed"
    fi
}

# install_without_services PACKAGE: the tests start servers of their own, so none that Debian would start
# with the package is wanted. Its policy for that is ours for as long as it takes, where there is none.
install_without_services() (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        # 101: not allowed.
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" </dev/null >/dev/null
)

# python_environment DIRECTORY REQUIREMENTS: a virtual environment with exactly those packages.
# It is made anew when the requirements or the interpreter change.
python_environment() {
    local directory=$1 requirements=$2 wanted
    need "python3 --version" python3
    wanted=$(python3 --version; sha256sum <"$requirements")
    if [ "$(cat "$directory/made-for" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    need "python3 -c 'import ensurepip, venv'" python3-venv
    echo "making the Python environment of $requirements"
    rm -rf "$directory"
    # The one that was found may have been in there.
    hash -r
    python3 -m venv "$directory"
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
        --requirement "$requirements" </dev/null
    printf '%s\n' "$wanted" >"$directory/made-for"
}

# The API as it was released last; scripts/release writes it anew.
# shellcheck disable=SC2034 # for whoever sources this
api_baseline=.ci/banqi.v1.binpb

# Fails unless everything that names the oldest Rust names the same one, and says whether it is the one here.
rust_versions() {
    local oldest here
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    grep -q "^rust-version = \"$oldest\"$" fuzz/Cargo.toml || fail "fuzz/Cargo.toml does not have rust-version $oldest, as Cargo.toml has"
    grep -q "^FROM rust:$oldest-" Dockerfile || fail "Dockerfile does not build with Rust $oldest, which Cargo.toml says is enough"
    grep -q "Rust $oldest or newer" README.md || fail "README.md does not say \"Rust $oldest or newer\", as Cargo.toml does"
    here=$(rustc --version | cut -d ' ' -f 2)
    case $here in
        "$oldest" | "$oldest".*) echo "rust-version $oldest: it is this toolchain's, so all that is built here shows it" ;;
        *) echo "rust-version $oldest: NOT CHECKED but by the lint incompatible_msrv, since this toolchain is $here" ;;
    esac
}
