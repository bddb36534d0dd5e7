/** `muster forget worker|user ID`: overwrites everything stored about a person. */
import { requireRoom } from '../../app/connection/storage.ts'
import { type ForgottenPerson, forgetPerson } from '../../app/privacy/forget-person.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { isPersonKind } from '../../privacy/personal-fields.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { everyFewSeconds } from '../terminal/scan-progress.ts'

function personOf([kind = '', id = '']: readonly string[]) {
  if (!isPersonKind(kind))
    throw new UsageError({
      what: `a person is a worker or a user, not ${JSON.stringify(kind)}`,
      next: 'muster forget worker ID',
    })
  if (isSafeId(id)) return { kind, id }
  throw new UsageError({
    what: `${JSON.stringify(id)} is not an id`,
    next: 'give the id of a worker or user',
  })
}

function print(
  context: CommandContext,
  { rows, pages, outputs, unreached, unreachable, damaged }: ForgottenPerson,
  isDry: boolean,
): void {
  if (context.json) {
    printJson(context, { changed: !isDry, rows, pages, outputs, unreached, unreachable, damaged })
    return
  }
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  if (total > 0) printTable(context, ['table', 'rows'], Object.entries(rows))
  printLine(
    context,
    `${isDry ? 'would be overwritten' : 'overwritten'}: ${counted(total, 'row')}, ${counted(pages, 'landed page')}`,
  )
  for (const place of outputs) printLine(context, `${isDry ? 'would be rewritten' : 'rewritten'}: ${place}`)
  for (const place of unreached)
    printLine(context, `not reached, because a query wrote it: check or remove it: ${place}`)
  for (const scan of damaged)
    printLine(context, `${isDry ? 'cannot be read' : 'removed, because it could not be read'}: ${scan}`)
  printTable(
    context,
    ['not reached', 'what to do'],
    unreachable.map(({ place, next }) => [place, next]),
  )
}

export const command: CommandModule = {
  arguments: [
    { name: '<kind>', summary: 'worker or user', choices: ['worker', 'user'] },
    { name: '<id>', summary: 'id of the person at the service' },
  ],
  options: [
    { flags: '--dry-run', summary: 'only show where the person occurs' },
    { flags: '--yes', summary: 'do it; without this, only show what it would do, and exit with 2' },
    {
      flags: '--allow-return',
      summary: 'let a later change of a record at the service bring the person back',
    },
    { flags: '--accept-loss', summary: 'remove landed pages that cannot be read and so cannot be cleared' },
  ],
  notes: [
    'This cannot be undone. If the command is killed, run it again to finish.',
    'Before it records success, it searches tables, pages and files again. At the end it lists the places it cannot reach.',
  ],
  examples: ['muster forget worker 6876eb804c751398b104f886 --dry-run', 'muster forget user 68f0c1 --yes'],
  async run(context, args, options) {
    const person = personOf(args)
    const isDry = flagOption(options, 'dryRun') || !flagOption(options, 'yes')
    if (!isDry) requireRoom(context.connection())
    const forgotten = await forgetPerson(
      context.connection(),
      {
        person,
        allowsReturn: flagOption(options, 'allowReturn'),
        acceptLoss: flagOption(options, 'acceptLoss'),
        isDry,
      },
      { ...context, onScan: everyFewSeconds(context), onStep: context.notice },
    )
    print(context, forgotten, isDry)
    if (!isDry || flagOption(options, 'dryRun')) return 0
    throw new UsageError({
      what: 'nothing was changed',
      next: 'what is overwritten cannot be brought back: pass --yes to do it',
    })
  },
}
