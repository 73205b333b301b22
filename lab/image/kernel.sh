# The kernel of an image; sourced by common.sh. Reads
#   wanted_kernel   empty: the kernel of this machine's installed headers. A Debian kernel by its series (6.12: the newest
#                   that apt knows) or release (6.12.107+deb12-amd64). With a slash: a file, bzImage or ELF
#   wanted_modules  for a file: its modules, the folder lib/modules/RELEASE that `make modules_install` writes, with its
#                   link `build` (siw, veth and longhaul_reg are built against what it names)
# (lab/kernel.cc has checked both) and sets
#   kernel          a folder with vmlinux (uncompressed, booted directly by PVH: unpacking xz under emulation takes longer
#                   than the rest of the boot), bzImage (for machines that cannot) and modules, siw and a veth with longer
#                   queues among them
#   release         as uname -r tells it
#   kernel_version  of the Debian package; a digest for a file
#   make_module     a function: FOLDER [VARIABLE=VALUE]..., builds the module that lies there for this kernel

number() { od -An -tu"$3" -j"$2" -N"$3" "$1" | tr -d ' '; } # FILE OFFSET BYTES

# A bzImage carries the ELF kernel as one compressed stream and its length; its header says where
# (Documentation/arch/x86/boot.rst).
unpack_kernel() { # BZIMAGE VMLINUX
    start=$((($(number "$1" 497 1) + 1) * 512 + $(number "$1" 584 4)))
    tail -c +$((start + 1)) "$1" 2>/dev/null | head -c $(($(number "$1" 588 4) - 4)) >"$work/stream"
    case $(od -An -tx1 -N6 "$work/stream" | tr -d ' ') in
        fd377a58*) unpack=xz ;;
        28b52ffd*) unpack=zstd ;;
        1f8b*) unpack=gzip ;;
        *) die "kernel $release is packed with none of xz, zstd, gzip" ;;
    esac
    command -v $unpack >/dev/null || die "no program $unpack: run scripts/bootstrap"
    $unpack -dc <"$work/stream" >"$2" || die "cannot unpack kernel $release"
    rm "$work/stream"
}

is_elf() { [ "$(head -c 4 "$1" | od -An -c | tr -d ' ')" = '177ELF' ]; } # FILE

fetch() { # PACKAGE...: into $work/fetched-kernel
    (mkdir -p "$work/debs" && cd "$work/debs" && apt-get -o APT::Sandbox::User=root download -qq "$@") >&2 ||
        die "cannot download these: run apt-get update, and check the network:" "$@"
    for package in "$work/debs"/*.deb; do
        dpkg -x "$package" "$work/fetched-kernel"
        rm "$package"
    done
}

# --- which one, and what modules are built against -----------------------------------------------------------------------

installed=$(printf '%s\n' /usr/src/linux-headers-*-amd64 | sort -V | tail -n 1)
installed=${installed#/usr/src/linux-headers-}

known_kernels() { # of Debian's the usual flavour, oldest first
    apt-cache search --names-only '^linux-headers-[0-9].*-amd64$' |
        sed -n 's/^linux-headers-\([0-9]*\.[0-9]*\.[^ ]*-amd64\) .*/\1/p' | grep -Ev -- '-(cloud|rt)-amd64$' | sort -V
}

choose_debian() {
    case $wanted_kernel in
        '')
            release=$installed
            [ "$release" != '*-amd64' ] || die "no kernel headers in /usr/src: install linux-headers-amd64 (scripts/bootstrap does)"
            ;;
        *-amd64) release=$wanted_kernel ;;
        *)
            # The installed one stands for its series: an image of it is there already.
            case $installed in
                "$wanted_kernel".*) release=$installed ;;
                *) release=$(known_kernels | while read -r one; do case $one in "$wanted_kernel".*) echo "$one" ;; esac; done | tail -n 1) ;;
            esac
            ;;
    esac
    kernel_version=$({ dpkg-query -W -f 'Version: ${Version}\n' "linux-headers-$release" || apt-cache show "linux-headers-$release"; } \
        2>/dev/null | sed -n 's/^Version: //p' | head -n 1)
    [ -n "$kernel_version" ] ||
        die "Debian has no kernel $wanted_kernel here (one of your own is --kernel FILE --modules FOLDER). apt knows $(known_kernels | tr '\n' ' ')(others: add their release, such as bookworm-backports, to apt's sources)"
    series=$(expr "$release" : '\([0-9]*\.[0-9]*\)')
}

# Where modules are built: `headers`. Debian's that are not installed find each other by absolute names.
prepare_headers() {
    [ -z "$wanted_modules" ] || return 0
    headers=/usr/src/linux-headers-$release
    [ ! -d "$headers" ] || return 0
    headers=$work/fetched-kernel/usr/src/linux-headers-$release
    [ ! -d "$headers" ] || return 0
    say "fetching headers of kernel $release"
    needs=$(apt-cache depends "linux-headers-$release" | sed -n 's/^ *|*Depends: \(linux-headers-.*-common\|linux-kbuild-.*\)/\1/p')
    fetch "linux-headers-$release" $needs
    sed -i "s|/usr/src/|$work/fetched-kernel/usr/src/|" "$headers/Makefile"
}

choose_own() {
    headers=$wanted_modules/build
    [ -f "$headers/Makefile" ] || die "--modules $wanted_modules: its link build names no build tree, and siw, veth and longhaul_reg are built against it; keep the tree"
    release=$(basename "$(readlink -f "$wanted_modules")")
    # What modules name as their kernel (vermagic); include/config/kernel.release of Debian's headers names another.
    built=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$headers/include/generated/utsrelease.h" 2>/dev/null) || built=
    [ "${built:-$release}" = "$release" ] || die "--modules $wanted_modules: its build tree has been configured as kernel $built since, which takes other modules: keep a tree for each"
    kernel_version=$({ cat "$wanted_kernel"; find -L "$wanted_modules/" -name '*.ko*' -not -path '*/build/*' -not -path '*/source/*' -print0 |
        LC_ALL=C sort -z | xargs -0 cat; } | sha256sum | cut -c1-16)
}

# BTF wants pahole, and nobody here reads it of a module.
make_module() { # FOLDER [VARIABLE=VALUE]...
    folder=$1
    shift
    prepare_headers
    make -s -C "$headers" M="$folder" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules >"$work/make.log" 2>&1 ||
        { cat "$work/make.log" >&2; die "$(basename "$folder") does not build against $headers"; }
}

# --- its parts -----------------------------------------------------------------------------------------------------------

get_debian() { # into $work/kernel
    say "fetching kernel $release"
    fetch "linux-image-$release"
    cp "$work/fetched-kernel/boot/vmlinuz-$release" "$work/kernel/bzImage"
    # Debian 13 has them below /usr, and each packed by itself, which strip does not read.
    unpacked=$work/fetched-kernel/lib/modules/$release
    [ -d "$unpacked" ] || unpacked=$work/fetched-kernel/usr/lib/modules/$release
    mv "$unpacked" "$work/kernel/modules"
}

get_own() { # likewise
    cp "$wanted_kernel" "$work/kernel/bzImage"
    mkdir "$work/kernel/modules"
    (cd "$wanted_modules" && tar -c --exclude=./build --exclude=./source .) | tar -x -C "$work/kernel/modules"
}

siw=drivers/infiniband/sw/siw
veth=drivers/net/veth.c

find_source() { # source: a folder with the kernel's own siw and veth, as far as there are any
    if [ -n "$wanted_modules" ]; then
        # 6.12's `make modules_install` leaves no link `source`: a build tree of objects alone has one, another is the source.
        for source in "$wanted_modules/source" "$wanted_modules/build/source" "$wanted_modules/build"; do
            [ ! -f "$source/$veth" ] || return 0
        done
        return 0
    fi
    archive=/usr/src/linux-source-$series.tar.xz
    if [ "$release" != "$installed" ] || [ ! -f "$archive" ]; then
        fetch "linux-source-$series=$kernel_version"
        archive=$work/fetched-kernel$archive
    fi
    source=$work/linux-source-$series
    tar -xJf "$archive" -C "$work" "linux-source-$series/$siw" "linux-source-$series/$veth"
}

# Debian's kernel lacks it. It is the kernel's own but for a fault, which mend-siw mends, and for who sends what a process
# does not send itself (answers to reads, all of a kernel's user): siw has a thread on each processor and takes the one
# with the fewest connections, whosever they are. In a compact lab that is another node's processor, or the router's. So
# a connection stays with the processor that makes it.
build_siw() {
    say "building siw for $release"
    [ -d "$source/$siw" ] ||
        die "kernel $release has no module siw, and $source no source of it: build it with CONFIG_RDMA_SIW=m"
    cp -r "$source/$siw" "$work/siw"
    sh "$here/mend-siw" "$work/siw"
    stay='if (siw_tx_thread[raw_smp_processor_id()]) { tx_cpu = raw_smp_processor_id(); goto out; }'
    sed -i "/^int siw_get_tx_cpu(/,/^}/ s/^	if (node < 0)\$/	$stay\n&/" "$work/siw/siw_main.c"
    grep -qF "$stay" "$work/siw/siw_main.c" ||
        say "kernel $release keeps its siw_get_tx_cpu(), which is not the one that we know: connections over siw may send from other nodes' processors"
    make_module "$work/siw" CONFIG_RDMA_SIW=m
    install -D -m 0644 "$work/siw/siw.ko" "$work/kernel/modules/kernel/$siw/siw.ko"
}

# The kernel's own but for one number. A veth with NAPI, as the compact lab's router has, holds 256 packets and loses what
# comes beyond: there is no queue before it that could be told to wait, as an adapter tells its own.
build_veth() {
    if [ ! -f "$source/$veth" ]; then
        say "kernel $release keeps its veth, which loses what overfills a queue of 256 packets: there is no $source/$veth (the modules' link source names the tree)"
        return
    fi
    say "building veth for $release"
    mkdir "$work/veth"
    sed 's/^#define VETH_RING_SIZE.*/#define VETH_RING_SIZE 16384/' "$source/$veth" >"$work/veth/veth.c"
    grep -q '^#define VETH_RING_SIZE 16384$' "$work/veth/veth.c" || die "kernel $release: $veth names no VETH_RING_SIZE"
    echo 'obj-m := veth.o' >"$work/veth/Makefile"
    make_module "$work/veth"
    find "$work/kernel/modules" -name veth.ko -delete
    install -D -m 0644 "$work/veth/veth.ko" "$work/kernel/modules/kernel/drivers/net/veth.ko"
}

build_kernel() {
    mkdir "$work/kernel"
    $get
    find "$work/kernel/modules" -name '*.ko.xz' -exec xz -d {} +
    find "$work/kernel/modules" -name '*.ko.zst' -exec zstd -q -d --rm {} +
    find "$work/kernel/modules" -name '*.ko.gz' -exec gzip -d {} +

    image=$work/kernel/bzImage
    if is_elf "$image"; then cp "$image" "$work/kernel/vmlinux.full"; else unpack_kernel "$image" "$work/kernel/vmlinux.full"; fi
    strip -o "$work/kernel/vmlinux" "$work/kernel/vmlinux.full" 2>/dev/null || cp "$work/kernel/vmlinux.full" "$work/kernel/vmlinux"
    is_elf "$work/kernel/vmlinux" || die "cannot unpack kernel $release"
    # The name of Xen's notes, of which PVH's entry is one.
    readelf -n "$work/kernel/vmlinux" 2>/dev/null | grep -q Xen || die "kernel $release has no entry for PVH: build it with CONFIG_PVH=y"
    rm "$work/kernel/vmlinux.full"

    find_source
    [ -n "$(find "$work/kernel/modules" -name siw.ko)" ] || build_siw
    build_veth
    # depmod wants the tree under its usual name.
    mkdir -p "$work/root/lib/modules"
    mv "$work/kernel/modules" "$work/root/lib/modules/$release"
    depmod -b "$work/root" "$release"
    mv "$work/root/lib/modules/$release" "$work/kernel/modules"
    rm -rf "$work/root"
    mv "$work/kernel" "$kernel"
}

case $wanted_kernel in
    */*)
        choose_own
        get=get_own
        ;;
    *)
        choose_debian
        get=get_debian
        ;;
esac
# By another version of these files it has other modules.
kernel=$cache/kernel-$release-$kernel_version-$(cat "$here/kernel.sh" "$here/mend-siw" | sha256sum | cut -c1-8)
[ -d "$kernel" ] || build_kernel
