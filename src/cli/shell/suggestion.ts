/** What was meant by a command or an option that does not exist. */
import type { Command, CommanderError } from 'commander'
import { nearest } from '../../lib/text/nearest.ts'
import { globalOptions } from './global-options.ts'

/** The same error, with the command or the option that was meant. */
export function suggesting(error: CommanderError, command: Command): CommanderError {
  const [, kind, typed = ''] = /^error: unknown (command|option) '-*(.*)'$/s.exec(error.message) ?? []
  if (kind === undefined) return error
  const options = [...command.options, ...globalOptions()].flatMap(({ long }) => long?.slice(2) ?? [])
  const found = nearest(typed, kind === 'option' ? options : command.commands.map(one => one.name()))
  if (found !== undefined) error.message += `, did you mean ${kind === 'option' ? '--' : ''}${found}?`
  return error
}
