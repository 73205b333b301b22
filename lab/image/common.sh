# Shared by the builders of images; sourced. They run unprivileged, use Debian's own packages, and cache what they make by
# what it is made of. Sets
#   cache, work       where results are kept; a scratch folder that goes with the builder
#   kernel, release   a folder with vmlinux (uncompressed, booted directly by PVH: unpacking xz under emulation takes
#                     longer than the rest of the boot), bzImage (for machines that cannot) and modules, siw among them
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

# --- the kernel: that of the installed headers, because modules are built against them -----------------------------------

headers=$(printf '%s\n' /usr/src/linux-headers-*-amd64 | sort -V | tail -n 1)
[ -d "$headers" ] || die "no kernel headers in /usr/src: install linux-headers-amd64 (scripts/bootstrap does)"
release=${headers#/usr/src/linux-headers-}
series=$(expr "$release" : '\([0-9]*\.[0-9]*\)')
source=/usr/src/linux-source-$series.tar.xz
version=$(dpkg-query -W -f '${Version}' "linux-headers-$release") || die "linux-headers-$release is not a Debian package"
kernel=$cache/kernel-$release-$version

number() { od -An -tu"$3" -j"$2" -N"$3" "$1" | tr -d ' '; } # FILE OFFSET BYTES

build_kernel() {
    say "fetching kernel $release"
    mkdir "$work/kernel"
    (cd "$work" && apt-get -o APT::Sandbox::User=root download -qq "linux-image-$release") >&2 ||
        die "cannot download linux-image-$release: run apt-get update, and check the network"
    dpkg -x "$work"/linux-image-*.deb "$work/unpacked"
    cp "$work/unpacked/boot/vmlinuz-$release" "$work/kernel/bzImage"
    # Debian 13 has them below /usr, and each packed by itself, which strip does not read.
    [ -d "$work/unpacked/lib/modules" ] || mv "$work/unpacked/usr/lib" "$work/unpacked/"
    mv "$work/unpacked/lib/modules/$release" "$work/kernel/modules"
    find "$work/kernel/modules" -name '*.ko.xz' -exec xz -d {} +

    # A bzImage carries the ELF kernel as one compressed stream and its length; its header says where (Documentation/arch/x86/boot.rst).
    image=$work/kernel/bzImage
    start=$((($(number "$image" 497 1) + 1) * 512 + $(number "$image" 584 4)))
    tail -c +$((start + 1)) "$image" 2>/dev/null | head -c $(($(number "$image" 588 4) - 4)) >"$work/stream"
    case $(od -An -tx1 -N4 "$work/stream" | tr -d ' ') in
        fd377a58) unpack=xz ;;
        28b52ffd) unpack=zstd ;;
        *) die "kernel $release is packed with neither xz nor zstd" ;;
    esac
    command -v $unpack >/dev/null || die "no program $unpack: run scripts/bootstrap"
    $unpack -dc <"$work/stream" >"$work/kernel/vmlinux.full" || die "cannot unpack kernel $release"
    strip -o "$work/kernel/vmlinux" "$work/kernel/vmlinux.full" 2>/dev/null || cp "$work/kernel/vmlinux.full" "$work/kernel/vmlinux"
    [ "$(head -c 4 "$work/kernel/vmlinux" | od -An -c | tr -d ' ')" = '177ELF' ] || die "cannot unpack kernel $release"
    rm "$work/kernel/vmlinux.full" "$work/stream"

    say "building siw for $release"
    [ -f "$source" ] || die "no $source: install linux-source-$series (scripts/bootstrap does)"
    tar -xJf "$source" -C "$work" "linux-source-$series/drivers/infiniband/sw/siw"
    make -s -C "$headers" M="$work/linux-source-$series/drivers/infiniband/sw/siw" CONFIG_RDMA_SIW=m modules >"$work/siw.log" 2>&1 ||
        { cat "$work/siw.log" >&2; die "siw does not build against $headers"; }
    mkdir -p "$work/kernel/modules/kernel/drivers/infiniband/sw/siw"
    cp "$work/linux-source-$series/drivers/infiniband/sw/siw/siw.ko" "$work/kernel/modules/kernel/drivers/infiniband/sw/siw/"
    # depmod wants the tree under its usual name.
    mkdir -p "$work/root/lib/modules"
    mv "$work/kernel/modules" "$work/root/lib/modules/$release"
    depmod -b "$work/root" "$release"
    mv "$work/root/lib/modules/$release" "$work/kernel/modules"
    rm -rf "$work/root"
    mv "$work/kernel" "$kernel"
}
[ -d "$kernel" ] || build_kernel

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

