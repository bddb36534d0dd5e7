/** `muster completion`: prints the completion script of a shell. */
import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import type { CommandModule } from '../command.ts'
import { candidates, scripts } from '../shell/complete.ts'

/** The argument with which the scripts ask for completions. */
const words = 'words'

export const command: CommandModule = {
  arguments: [
    { name: '<shell>', summary: Object.keys(scripts).join(', '), choices: Object.keys(scripts) },
    {
      name: '[words...]',
      summary: 'with `words` instead of a shell: print completions of this command line',
    },
  ],
  notes: [
    '  bash: add eval "$(muster completion bash)" to ~/.bashrc',
    '  zsh: add eval "$(muster completion zsh)" to ~/.zshrc, after compinit',
    '  fish: muster completion fish > ~/.config/fish/completions/muster.fish',
    'Names of resources, marts, checks, connections and DAGs are completed too.',
  ],
  examples: ['muster completion bash', 'muster completion zsh', 'muster completion fish'],
  run: async (context, [shell = '', ...typed]) => {
    if (shell === words) {
      const found = await candidates(typed, context)
      if (found.length > 0)
        context.stdout.write(`${found.map(({ word, summary }) => `${word}\t${summary}`).join('\n')}\n`)
      return 0
    }
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined)
      throw new UsageError({
        what: `there is no completion for ${shell}`,
        next: choiceOf(shell, Object.keys(scripts)),
      })
    context.stdout.write(script)
    return 0
  },
}
