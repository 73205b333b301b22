# Completion for longhaul, longhaul-agent, longhaul-bench and degen: asks the program itself what may come next, so it
# is never behind it.
_longhaul() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local word help commands=()
    # A subcommand is a word that the help before it lists.
    help=$("${COMP_WORDS[0]}" --help 2>/dev/null)
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word =~ ^[a-z_]+$ ]] && grep -q "^  $word  *" <<<"$help" || continue
        commands+=("$word")
        help=$("${COMP_WORDS[0]}" "${commands[@]}" --help 2>/dev/null)
    done
    case $current in
        -*) mapfile -t COMPREPLY < <(compgen -W "$(grep -o -- '^  -[-a-z,]*' <<<"$help" | tr , '\n')" -- "$current") ;;
        *)
            # Words of a choice stand in braces behind the option: {a,b,c}.
            local choices
            choices=$(grep -- "$previous[ ,]" <<<"$help" | grep -o '{[^}]*}' | head -n 1 | tr -d '{}' | tr , ' ')
            mapfile -t COMPREPLY < <(
                if [[ $previous == -* && -n $choices ]]; then
                    compgen -W "$choices" -- "$current"
                else
                    compgen -W "$(sed -n '/^Subcommands:/,/^$/s/^  \([a-z_]*\).*/\1/p' <<<"$help")" -- "$current"
                    compgen -f -- "$current"
                fi
            ) ;;
    esac
}
complete -o filenames -F _longhaul longhaul longhaul-agent longhaul-bench degen
