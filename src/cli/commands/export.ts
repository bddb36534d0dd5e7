/** `muster export`: writes star and mart as Parquet files with a manifest. */
import { resolve } from 'node:path'
import { requireRoom, stemOf } from '../../app/connection/storage.ts'
import { openToRead } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { exportParquet, monthRowsUnlessGiven } from '../../publish/export/export.ts'
import { requireUnguarded } from '../../temporary/output-file.ts'
import { type CommandModule, flagOption, integerBetween, numberOf, textOption } from '../command.ts'
import { guardedBy } from '../guarded.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  options: [
    {
      flags: '--parquet <folder>',
      summary: 'target folder; an existing export in it is replaced',
    },
    {
      flags: '--include-pii',
      summary: 'include the tables of pii; then only the owner can read the folder',
    },
    {
      flags: '--month-rows <number>',
      summary: 'facts and marts with more rows than this are split by month',
      parse: integerBetween(1),
      fallback: monthRowsUnlessGiven,
    },
  ],
  examples: [
    'muster export --parquet data/parquet',
    'muster export --parquet /srv/lake/acme --month-rows 100000 --json',
  ],
  async run(context, _args, options) {
    const target = textOption(options, 'parquet')
    if (target === undefined)
      throw new UsageError({ what: 'export needs a folder', next: 'name it with --parquet FOLDER' })
    const folder = resolve(context.cwd, target)
    requireUnguarded(folder, guardedBy(context))
    requireRoom(context.stored(), folder)
    // Otherwise the pii tables would be left out silently for a user who may not read them.
    const needs = flagOption(options, 'includePii') ? 'ledger' : 'data'
    const { handle: engine } = await openToRead(context.stored(), context, { needs })
    try {
      const { clock, signal } = context
      const onTable = (table: string, rows: number): void => context.log.debug({ table, rows }, 'exported')
      const includePii = flagOption(options, 'includePii')
      const manifest = await exportParquet(
        { engine, clock, signal, version: programVersion, onTable },
        { folder, includePii, monthRows: numberOf(options, 'monthRows'), listedOf: stemOf(context.stored()) },
      )
      if (context.json) {
        printJson(context, { folder, ...manifest })
        return 0
      }
      const filled = manifest.tables.filter(({ rows }) => rows > 0)
      if (context.globals.verbose)
        printTable(
          context,
          ['table', 'rows', 'files'],
          filled.map(({ schema, name, rows, files }) => [`${schema}.${name}`, rows, files.length]),
        )
      const files = manifest.tables.flatMap(table => table.files)
      const rows = files.reduce((sum, file) => sum + file.rows, 0)
      const megabytes = files.reduce((sum, file) => sum + file.bytes, 0) / 1e6
      const parts = `${manifest.tables.length} tables, ${counted(rows, 'row')}, ${counted(files.length, 'file')}`
      printLine(context, `exported ${parts}, ${megabytes.toFixed(1)} MB: ${folder}`)
      return 0
    } finally {
      await engine.close()
    }
  },
}
