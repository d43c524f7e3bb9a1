# shellcheck shell=bash
# The initial RAM file system of the VMs: busybox, the kernel modules they need, the guest scripts.

modules=(virtio_pci virtio_console virtio_net 9p 9pnet_virtio overlay dummy ib_uverbs rdma_ucm rdma_rxe
  sch_netem sch_ingress cls_flower act_gact)

unpacked() { # MODULE-FILE
  case $1 in
    *.xz) xz -dc "$1" ;;
    *.zst) zstd -dcq "$1" ;;
    *.gz) gzip -dc "$1" ;;
    *) cat "$1" ;;
  esac
}

add_modules() { # FOLDER; writes its file "order" too: name and arguments, in the order to load them
  local list word file name
  list=$(modprobe -S "$kernel" --show-depends --all "${modules[@]}") || return
  while read -r word file _; do
    [[ $word == insmod ]] || continue # "builtin" otherwise
    name=${file##*/}
    name=${name%.ko*}.ko
    [[ ! -e $1/$name ]] || continue
    unpacked "$file" > "$1/$name" || return
    if [[ $name == dummy.ko ]]; then echo "$name numdummies=0"; else echo "$name"; fi >> "$1/order"
  done <<< "$list"
}

make_initramfs() { # IMAGE
  local root=$1.root
  mkdir -p "$root"/{bin,dev,host,lab,modules,newroot,proc,sys,rw}
  cp "$(command -v busybox)" "$root/bin/busybox" || fail "cannot copy busybox"
  cp "$here"/guest/* "$root/lab/"
  mv "$root/lab/init" "$root/init"
  chmod 755 "$root/init" "$root"/lab/*
  add_modules "$root/modules" || fail "kernel $kernel lacks one of the modules ${modules[*]}"
  (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) > "$1" || fail "cannot write $1"
  rm -rf "$root"
}
