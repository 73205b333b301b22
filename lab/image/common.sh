# Shared by the builders of images; sourced, with `here` set. They run unprivileged, use Debian's own packages, and cache
# what they make by what it is made of. Sets
#   cache, work       where results are kept; a scratch folder that goes with the builder
#   kernel, release   and the rest of kernel.sh
cache=${XDG_CACHE_HOME:-$HOME/.cache}/longhaul/lab
mkdir -p "$cache"

say() { echo "lab image: $*" >&2; }
die() { say "$*"; exit 1; }

# One builder at a time; whoever waited finds the work done.
exec 9>"$cache/lock"
flock 9

work=$cache/work
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

. "$here/kernel.sh"

# --- Debian's packages -------------------------------------------------------------------------------------------------

# Of each LINE, a name or alternatives by release ("one|other"), the first that apt knows: NAME=VERSION, a line each. apt
# is asked once, for it takes half a second. As a command of its own (known=$(known_packages ...)), or its end is lost.
known_packages() { # LINE...
    apt-cache policy $(echo "$@" | tr '|' ' ') | awk '
        /^[^ ]/ { sub(/:$/, ""); name = $0 }
        / Candidate:/ && $2 != "(none)" { print name "=" $2 }' >"$work/known-packages"
    for line; do
        found=
        for name in $(echo "$line" | tr '|' ' '); do
            found=$(grep -m 1 "^$name=" "$work/known-packages") && break
        done
        [ -n "$found" ] || die "apt knows no package $line: run apt-get update, and check the network"
        echo "$found"
    done
}

# --- parts of an initramfs ---------------------------------------------------------------------------------------------

# Copies a file with the libraries that it needs, unless the base has them already.
add_libraries() { # ROOT FILE...
    root=$1
    shift
    # ldd prints "name => path (address)" or "path (address)"
    { for file; do ldd "$file" 2>/dev/null || true; done; } | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[ \t]*\(\/[^ ]*\) (.*/\1/p' | sort -u >"$work/libraries"
    while read -r library; do
        case $library in "$work"/*) continue ;; esac # of a package that was unpacked here: its own files are copied as such
        [ ! -e "$root$library" ] || continue
        ! grep -qxF "$library" "$work/base-has" || continue
        install -D -m 0755 "$library" "$root$library"
        strip --strip-unneeded "$root$library" 2>/dev/null || true
    done <"$work/libraries"
}

# Copies modules of the kernel, with what they need, and tells modprobe of all that are there.
install_modules() { # ROOT MODULE...
    root=$1
    shift
    mkdir -p "$work/tree/lib/modules"
    ln -sfn "$kernel/modules" "$work/tree/lib/modules/$release"
    : >"$work/all-depends"
    for module; do
        modprobe -d "$work/tree" -S "$release" --show-depends --ignore-install "$module" >"$work/depends" ||
            die "kernel $release has no module $module"
        cat "$work/depends" >>"$work/all-depends"
    done
    sed -n 's/^insmod \([^ ]*\).*/\1/p' "$work/all-depends" | sort -u | while read -r file; do
        target=$root/lib/modules/$release/${file##*/modules/"$release"/}
        install -D -m 0644 "$file" "$target"
        strip --strip-debug "$target"
    done
    cp "$kernel/modules/modules.builtin" "$kernel/modules/modules.order" "$root/lib/modules/$release/"
    depmod -b "$root" "$release" 2>/dev/null
}

# In the legacy format of lz4 such files can be concatenated: to the kernel they are one stream.
pack() { # ROOT FILE
    (cd "$1" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) | lz4 -l -9 -q -c >"$2.new"
    mv "$2.new" "$2"
}

keep_newest() { # PREFIX: older builds go when they have not been used for a week
    find "$cache" -maxdepth 1 -name "$1*" -mtime +7 -exec rm -rf {} + 2>/dev/null || true
}

