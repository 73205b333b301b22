#!/bin/sh
# Stands in for longhaul-bench: --mode says what it does. Its events go to the descriptor of the child contract.
emit() {
  n=${#1}
  printf "\\$(printf %03o $((n >> 24 & 255)))\\$(printf %03o $((n >> 16 & 255)))\\$(printf %03o $((n >> 8 & 255)))\\$(printf %03o $((n & 255)))%s" "$1" >&"$LONGHAUL_EVENT_FD"
}
mode=good
for argument in "$@"; do
  case $argument in --mode=*) mode=${argument#--mode=} ;; esac
done
case $mode in
  good)
    emit '{"kind":"ready","time":1,"port":4242}'
    emit '{"kind":"progress","time":1,"done":0.5}'
    emit '{"kind":"record","time":1,"record":{"schema":1,"workload":"script","role":"client","parameters":{},"metrics":{"latency":{"value":5,"samples":1,"raw":[]}},"window_start":1,"window_stop":2,"limits":[]}}'
    emit '{"kind":"progress","time":1,"done":1}'
    emit '{"kind":"failed","time":1,"message":"a second end"}' ;;
  hang)
    emit "{\"kind\":\"ready\",\"time\":1,\"port\":1,\"message\":\"$$\"}"
    sleep 60 & wait ;;
  orphan)
    sleep 60 &
    emit "{\"kind\":\"ready\",\"time\":1,\"port\":1,\"message\":\"$!\"}"
    exit 5 ;;
  stubborn)
    trap '' TERM
    emit "{\"kind\":\"ready\",\"time\":1,\"port\":1,\"message\":\"$$\"}"
    while :; do sleep 0.05; done ;;
  crash)
    echo 'first line' >&2
    echo "something is wrong" >&2
    exit 3 ;;
  chatter)
    i=0
    while [ $i -lt 2000 ]; do echo "line $i of many"; i=$((i + 1)); done >&2
    exit 4 ;;
  rubbish) printf '\000\000\000\005hello' >&"$LONGHAUL_EVENT_FD"; sleep 60 ;;
  huge) printf '\100\000\000\000' >&"$LONGHAUL_EVENT_FD"; sleep 60 ;;
  cut) printf '\000\000\001\000{"kind"' >&"$LONGHAUL_EVENT_FD" ;;
  told)
    read -r where
    emit "{\"kind\":\"failed\",\"time\":1,\"message\":\"told $where\"}" ;;
  spin) while :; do :; done ;;
  limits)
    emit "{\"kind\":\"failed\",\"time\":1,\"message\":\"$(cat /proc/$$/limits /proc/$$/status /proc/$$/oom_score_adj | tr -s '\n\t ' ' ' | tr -d '\"')\"}" ;;
  environment)
    emit "{\"kind\":\"failed\",\"time\":1,\"message\":\"${#LONGHAUL_PADDING} of $(wc -c </proc/$$/environ) bytes\"}" ;;
  token) emit "{\"kind\":\"failed\",\"time\":1,\"message\":\"$(shift; echo "$*"); $LONGHAUL_TOKEN\"}" ;;
  descriptors) emit "{\"kind\":\"failed\",\"time\":1,\"message\":\"$(readlink /proc/$$/fd/[1-9]* | tr '\n' ' ')\"}" ;;
esac
