# shellcheck shell=bash
# Shared by the scripts that run Open MPI: its command line over uet, and two hosts for it. Source
# it after lib.sh.

mpi_packages=(openmpi-bin libopenmpi-dev)

# mpi_build DIR: builds the provider where DIR has none; $build is then a folder that has one.
mpi_build() {
  build=$1
  if [ ! -e "$build/prov/uet/libuet-fi.so" ]; then
    say "Building the provider (build/release)"
    # shellcheck disable=SC2154
    (cd "$root" && cmake --preset release -DBUILD_TESTING=OFF >/dev/null &&
      cmake --build --preset release --target uet-fi)
    build=$root/build/release
  fi
  build=$(realpath "$build")
  mpi_run=(mpirun --oversubscribe)
  [ "$(id -u)" -ne 0 ] || mpi_run+=(--allow-run-as-root)
  mpi_uet=("${mpi_run[@]}" --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include uet
    -x "FI_PROVIDER_PATH=$build/prov/uet" -x FI_PROVIDER=uet)
}

# mpi_hosts AGENT RANKS: $mpi_on_hosts and $mpi_split are what goes before mpirun and after it, so
# that the ranks run on the two hosts of make_hosts, half on each. AGENT is written, and called
# instead of ssh: it enters host B, which has a name of its own, or Open MPI would take both for
# one.
mpi_hosts() {
  cat >"$1" <<AGENT
#!/bin/sh
shift
exec ip netns exec "$host_b" unshare --uts sh -c "hostname $host_b; \$*"
AGENT
  chmod +x "$1"
  # shellcheck disable=SC2034,SC2154
  mpi_on_hosts=(ip netns exec "$host_a")
  # shellcheck disable=SC2034,SC2154
  mpi_split=(--mca plm_rsh_agent "$1" --mca oob_tcp_if_include veth-uet
    -H "$addr_a:$(($2 / 2)),$addr_b:$(($2 / 2))" -n "$2")
}
