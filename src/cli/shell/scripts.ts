/** The completion scripts of shells: each asks `muster completion words` what may come next. */
import { filesWanted } from './complete.ts'

const bash = `# bash completion for muster: eval "$(muster completion bash)"
_muster() {
  local line words=() current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do words+=("\${line%%$'\\t'*}"); done < <(
    "\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
  if [[ "\${words[0]-}" == '${filesWanted}' ]]; then
    compopt -o default
    return
  fi
  COMPREPLY=("\${words[@]}")
}
complete -F _muster muster
`

const zsh = `#compdef muster
# zsh completion for muster: eval "$(muster completion zsh)", after compinit
_muster() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ "\${found[1]-}" == *files:* ]]; then
    _files
  else
    _describe muster found
  fi
}
if [[ "\${funcstack[1]-}" == _muster ]]; then
  _muster "$@"
else
  compdef _muster muster
fi
`

const fish = `# fish completion for muster: muster completion fish > ~/.config/fish/completions/muster.fish
function __muster_candidates
  set --local found (muster completion words -- (commandline --tokenize --cut-at-cursor)[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null)
  if string match --quiet -- '${filesWanted}*' $found[1]
    __fish_complete_path (commandline --current-token --cut-at-cursor)
  else
    printf '%s\\n' $found
  end
end
complete --command muster --no-files --arguments '(__muster_candidates)'
`

export const scripts: Readonly<Record<string, string>> = { bash, zsh, fish }
