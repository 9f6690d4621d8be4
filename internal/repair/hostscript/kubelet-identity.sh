#!/bin/bash
# Gives the kubelet of one node its own identity back: it moves the kubelet's kubeconfig away,
# and its client certificate where that is not a valid one of this node, so that the kubelet asks
# for a new one with its bootstrap credential. Containers keep running.
#
# Read this file before you run it as root on that host:
#   check    looks and changes nothing (the default)
#   apply    [BOOTSTRAP_KUBECONFIG_FILE] backs up, moves, starts the kubelet again
#   undo     puts back what apply moved
#   finish   deletes the backup, once the node has its identity
#
# Sources: kubernetes/kubernetes pkg/kubelet/certificate/bootstrap/bootstrap.go LoadClientConfig;
# openshift/machine-config-operator pkg/daemon/daemon.go kubeletRebootstrap; openshift/oc
# pkg/cli/admin/restartkubelet.
set -Eeuo pipefail
umask 077

node=@NODE@
api=@API@
plan=@ID@

root="${ROLLCALL_ROOT:-}" # another root directory, for a rehearsal; empty on a host
kubeconfig="$root/var/lib/kubelet/kubeconfig"
pki="$root/var/lib/kubelet/pki"
current="$pki/kubelet-client-current.pem"
bootstrap="$root/etc/kubernetes/kubeconfig"
backup="$root/root/rollcall-$plan"

say() { printf '%s\n' "$*"; }
fail() {
    printf 'refused: %s\n' "$*" >&2
    exit 1
}

# server prints the address that a kubeconfig leads to.
server() { sed -n 's/^[[:space:]]*server:[[:space:]]*//p' "$1" | tr -d "\"'" | head -n 1; }

# owner prints the subject of the client certificate that a kubeconfig carries; nothing where it
# carries none.
owner() {
    sed -n 's/^[[:space:]]*client-certificate-data:[[:space:]]*//p' "$1" | head -n 1 | base64 -d 2>/dev/null |
        openssl x509 -noout -subject -nameopt RFC2253 2>/dev/null || true
}

# certificate prints valid, missing, unreadable, expired, not yet valid or another name.
certificate() {
    [ -e "$current" ] || [ -L "$current" ] || { say missing; return; }
    local subject
    subject=$(openssl x509 -in "$current" -noout -subject -nameopt RFC2253 2>/dev/null) || { say unreadable; return; }
    case ",${subject#subject=}," in
    *",CN=system:node:$node,"*) ;;
    *) say "another name"; return ;;
    esac
    openssl pkey -in "$current" -noout 2>/dev/null || { say unreadable; return; }
    openssl x509 -in "$current" -noout -checkend 0 >/dev/null || { say expired; return; }
    local begin
    begin=$(date -u -d "$(openssl x509 -in "$current" -noout -startdate | cut -d= -f2)" +%s)
    [ "$begin" -le "$(date -u +%s)" ] || { say "not yet valid"; return; }
    say valid
}

# runtime prints what is wrong with the kubelet's own kubeconfig; nothing where it is a node's.
runtime() {
    [ -s "$kubeconfig" ] || { say "it is missing or empty"; return; }
    case "$(server "$kubeconfig")" in
    "$api") ;;
    *localhost* | *127.0.0.1* | *"[::1]"*) say "it leads to the API server of this host (an administrator's file)"; return ;;
    *) say "it leads to $(server "$kubeconfig"), not $api"; return ;;
    esac
    if grep -q 'client-certificate-data:' "$kubeconfig"; then
        say "it carries a certificate itself ($(owner "$kubeconfig")), which a kubelet's does not"
    fi
}

# usable fails unless a file is a bootstrap credential of this cluster and no administrator's.
usable() {
    [ -s "$1" ] || fail "$1 is missing or empty; make a new one where oc is logged in (oc config new-kubelet-bootstrap-kubeconfig) and name its file after apply"
    [ "$(server "$1")" = "$api" ] || fail "$1 leads to $(server "$1"), not $api"
    grep -Eq '^[[:space:]]*(token|tokenFile|client-certificate|client-certificate-data):' "$1" || fail "$1 has no credential"
    case "$(owner "$1")" in
    *system:masters* | *CN=system:admin*) fail "$1 is an administrator's file, not the bootstrap credential" ;;
    esac
    say "bootstrap credential: $1 leads to $api"
}

# clock warns; a wrong clock makes every certificate look wrong.
clock() {
    if ! command -v chronyc >/dev/null; then
        say "clock: not checked, there is no chronyc; it is $(date -u +%Y-%m-%dT%H:%M:%SZ)"
        return
    fi
    chronyc tracking 2>/dev/null | grep -q 'Leap status.*Normal' ||
        fail "the clock is not synchronized (chronyc tracking), it is $(date -u +%Y-%m-%dT%H:%M:%SZ); set it right first"
    say "clock: synchronized"
}

reach() {
    local host port
    host=${api#https://}
    port=${host##*:}
    host=${host%:*}
    host=${host#[}
    host=${host%]}
    # shellcheck disable=SC2016 # the inner shell expands its arguments
    timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$host" "$port" 2>/dev/null ||
        fail "$api does not answer from this host (name, route, load balancer); the kubelet could ask for no certificate"
    say "network path: $host:$port answers"
}

room() {
    local free
    free=$(df -Pk "$root/var/lib/kubelet" | awk 'NR==2 {print $4}')
    [ "$free" -ge 10240 ] || fail "the disk of /var/lib/kubelet has $free KiB left"
    local probe
    probe=$(mktemp "$root/var/lib/kubelet/.rollcall.XXXXXX") || fail "/var/lib/kubelet cannot be written (read-only?)"
    rm -f "$probe"
    say "disk: $free KiB free, writable"
}

common() {
    [ -n "$root" ] || [ "$(id -u)" -eq 0 ] || fail "run it as root"
    local tool
    for tool in openssl systemctl install sha256sum base64 timeout; do
        command -v "$tool" >/dev/null || fail "$tool is not on this host"
    done
    local name
    if [ -r "$root/proc/sys/kernel/hostname" ]; then name=$(tr -d "[:space:]" <"$root/proc/sys/kernel/hostname"); else name=$(hostname); fi
    case "$node" in
    "$name" | "$name".*) ;;
    *) fail "this host is $name, the script is for $node" ;;
    esac
    [ -d "$root/var/lib/kubelet" ] || fail "$root/var/lib/kubelet is missing: this is no node"
}

check() {
    common
    say "node: $node"
    say "client certificate: $(certificate)"
    say "kubelet's kubeconfig: $(runtime | grep . || say "that of a node")"
    clock
    reach
    room
}

needed() { [ "$(certificate)" != valid ] || [ -n "$(runtime)" ]; }

# restore puts the files of the backup back into their places. What is there now is kept.
restore() {
    (cd "$backup/files" && sha256sum --quiet -c ../sums) || fail "the backup $backup is damaged; nothing was put back"
    local now
    now="$backup/replaced-$(date -u +%Y%m%dT%H%M%SZ)-$$"
    mkdir -p "$now/pki"
    [ ! -e "$kubeconfig" ] || mv "$kubeconfig" "$now/"
    if [ -d "$backup/files/pki" ]; then
        find "$pki" -maxdepth 1 -name 'kubelet-client*' -exec mv -t "$now/pki" {} +
        find "$backup/files/pki" -maxdepth 1 -name 'kubelet-client*' -exec cp -a -t "$pki" {} +
    fi
    [ ! -e "$backup/files/kubeconfig" ] || cp -a "$backup/files/kubeconfig" "$kubeconfig"
    if [ -e "$backup/bootstrap-replaced" ]; then
        [ ! -e "$bootstrap" ] || mv "$bootstrap" "$now/bootstrap-kubeconfig"
        [ ! -e "$backup/files/bootstrap-kubeconfig" ] || cp -a "$backup/files/bootstrap-kubeconfig" "$bootstrap"
    fi
}

# broken runs where apply fails after the kubelet was stopped.
broken() {
    trap - ERR INT TERM
    say "it failed: putting everything back" >&2
    (restore) || say "not everything could be put back; the backup is $backup" >&2
    systemctl start kubelet
    exit 1
}

apply() {
    local new="${1:-}"
    check
    needed || fail "the kubelet has a valid certificate of its own and its own kubeconfig: there is nothing to do"
    [ ! -e "$backup" ] || fail "$backup exists: apply ran before; use undo or finish"
    if [ -n "$new" ]; then
        if [ ! -f "$new" ] || [ -L "$new" ]; then fail "$new is no regular file"; fi
        [ -z "$(find "$new" -perm /077)" ] || fail "others may read $new: chmod 0600 it"
        usable "$new"
    else
        usable "$bootstrap"
    fi
    mkdir -m 0700 "$backup" "$backup/files"
    [ ! -e "$kubeconfig" ] || cp -a "$kubeconfig" "$backup/files/kubeconfig"
    [ ! -e "$bootstrap" ] || cp -a "$bootstrap" "$backup/files/bootstrap-kubeconfig"
    if [ "$(certificate)" != valid ] && [ -d "$pki" ]; then
        mkdir "$backup/files/pki"
        find "$pki" -maxdepth 1 -name 'kubelet-client*' -exec cp -a -t "$backup/files/pki" {} +
    fi
    (cd "$backup/files" && find . -type f -exec sha256sum {} +) >"$backup/sums"
    [ -z "$new" ] || touch "$backup/bootstrap-replaced"
    sync
    say "backup: $backup"
    trap broken ERR INT TERM
    systemctl stop kubelet
    rm -f "$kubeconfig"
    if [ -d "$backup/files/pki" ]; then
        find "$pki" -maxdepth 1 -name 'kubelet-client*' -delete
    fi
    if [ -n "$new" ]; then
        install -m 0600 "$new" "$bootstrap"
        [ "$(id -u)" -ne 0 ] || chown root:root "$bootstrap"
        ! command -v restorecon >/dev/null || restorecon "$bootstrap"
    fi
    sync
    systemctl start kubelet
    trap - ERR INT TERM
    say "done: the kubelet asks for a certificate now. Approve its request where oc is logged in; the machine approver does not, as the node exists."
}

undo() {
    common
    [ -d "$backup" ] || fail "$backup is missing: there is nothing to undo"
    if [ "$(certificate)" = valid ] && [ -z "$(runtime)" ]; then
        fail "the kubelet has a valid certificate of its own now; undo would take it away. Use finish"
    fi
    systemctl stop kubelet
    restore
    systemctl start kubelet
    mv "$backup" "$backup-undone-$(date -u +%Y%m%dT%H%M%SZ)"
    say "undone: the files are as they were before apply"
}

finish() {
    common
    [ -d "$backup" ] || fail "$backup is missing: there is nothing to finish"
    [ "$(certificate)" = valid ] || fail "the client certificate is $(certificate): keep the backup until the node has its identity"
    local wrong
    wrong=$(runtime)
    [ -z "$wrong" ] || fail "the kubelet's kubeconfig: $wrong"
    rm -rf "$backup"
    say "finished: the node has its identity, and the backup is deleted"
}

case "${1:-check}" in
check) check ;;
apply) apply "${2:-}" ;;
undo) undo ;;
finish) finish ;;
*) fail "want check, apply, undo or finish, got $1" ;;
esac
