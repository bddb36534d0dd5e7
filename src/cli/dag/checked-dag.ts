/** A DAG whose tasks the commands take as they stand: what is wrong with a task is told before the first one runs. */
import { type Dag, dagNamed, fileOfDag } from '../../app/dag/dag-file.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'

/** Throws a ConfigError of one line that names every task with wrong arguments. */
export async function requireArguments(
  { program }: CommandContext,
  { tasks }: Pick<Dag, 'tasks'>,
  file: string,
): Promise<void> {
  const mistakes: string[] = []
  for (const { id, run, args } of tasks) {
    const why = await program.refusal([...run.split(' '), ...args])
    if (why !== undefined) mistakes.push(`task ${id}: ${why.replace(/ \(see muster --help\)$/, '')}`)
  }
  if (mistakes.length > 0) throw new ConfigError({ what: `${file}: ${mistakes.join('; ')}` })
}

export async function checkedDag(context: CommandContext, name: string): Promise<Dag> {
  const dag = dagNamed(name, context.cwd, context.program.commandNames)
  await requireArguments(context, dag, fileOfDag(name, context.cwd))
  return dag
}
