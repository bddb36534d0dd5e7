/** `muster marts`: writes the marts as SQL for another engine that reads the lake. */
import { resolve } from 'node:path'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { readMarts } from '../../marts/mart.ts'
import { sparkMarts } from '../../marts/spark/statements.ts'
import { marker, type SparkConnection, sparkFiles } from '../../semantic/spark-project.ts'
import { beginningOf, type OutputRules } from '../../temporary/output-file.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { requireBundleFolder, writeFolders } from '../reports/bundles.ts'
import { printJson, printLine } from '../terminal/output.ts'

const engines = ['spark']

const rulesOf = (context: CommandContext, options: Options): OutputRules => ({
  guarded: guardedBy(context),
  isForced: flagOption(options, 'force'),
  isOurs: file => beginningOf(file).includes(marker),
})

/** One that is named, or all of the settings. */
function connectionsOf(context: CommandContext): SparkConnection[] {
  const chosen =
    context.globals.connection === undefined
      ? [...context.storedSettings().connections.values()]
      : [context.stored()]
  return chosen.map(({ name, days, fiscalYearStart }) => ({ name, days, fiscalMonth: fiscalYearStart }))
}

export const command: CommandModule = {
  options: [
    { flags: '--sql <engine>', summary: 'engine that runs the statements: spark' },
    { flags: '--out <folder>', summary: 'write the files into this folder' },
    { flags: '--force', summary: 'also replace files that muster did not write' },
  ],
  notes: [
    'Writes a statement a mart, run.py for spark-submit, which reads one snapshot of the lake, and a dbt project.',
    'Marts that the lake cannot give are left out, each named with the reason. Nothing is read but the settings.',
  ],
  lineage: 'none',
  examples: ['muster marts --sql spark --out spark', 'muster marts --sql spark --out spark --json'],
  async run(context, _args, options) {
    const engine = textOption(options, 'sql')
    if (engine === undefined || !engines.includes(engine))
      throw new UsageError({
        what: engine === undefined ? 'marts needs an engine' : `marts writes no SQL for ${engine}`,
        next: engine === undefined ? 'name it with --sql spark' : choiceOf(engine, engines),
      })
    const out = textOption(options, 'out')
    if (out === undefined)
      throw new UsageError({ what: 'marts needs a folder', next: 'name it with --out FOLDER' })
    const folder = resolve(context.cwd, out)
    const made = sparkMarts(readMarts())
    const connections = connectionsOf(context)
    const files = sparkFiles(made, connections)
    const rules = rulesOf(context, options)
    requireBundleFolder({ folder, files: () => files }, rules)
    writeFolders([{ folder, files }], rules)
    if (context.json) {
      const marts = made.marts.map(({ mart }) => mart.name)
      printJson(context, { folder, marts, leftOut: made.leftOut, files: files.map(({ path }) => path) })
      return 0
    }
    for (const { name, why } of made.leftOut) printLine(context, `left out mart.${name}: ${why}`)
    const parts = `${counted(made.marts.length, 'mart')}, ${counted(files.length, 'file')}`
    printLine(context, `wrote ${parts} for ${connections.map(({ name }) => name).join(', ')}: ${folder}`)
    return 0
  },
}
