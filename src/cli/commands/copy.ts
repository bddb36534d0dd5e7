/** `muster copy`: moves a warehouse to another engine or place, with its marks. */
import { parseWarehouse, passwordIn, type Warehouse } from '../../config/warehouse-url.ts'
import { formatNumber } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { copyWarehouse } from '../../warehouse/copy.ts'
import { fileSource, serverSource } from '../../warehouse/copy-source.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { migrate } from '../../warehouse/migrate.ts'
import { openPostgres, type PostgresOptions } from '../../warehouse/postgres/open.ts'
import { type CommandModule, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine } from '../output.ts'

interface Place {
  readonly warehouse: Warehouse
  readonly options: PostgresOptions
}

function placeOf(context: CommandContext, options: Options, end: 'from' | 'to'): Place {
  const text = textOption(options, end) ?? ''
  const password = passwordIn(text)
  if (password) context.hide(password)
  const warehouse = parseWarehouse(text, context.cwd)
  if (!warehouse)
    throw new UsageError({
      what: `--${end} names no warehouse`,
      next: 'write duckdb:FILE or postgres://USER@HOST:PORT/DATABASE',
    })
  const prefix = textOption(options, `${end}Prefix`)
  const scratch = `${context.cwd}/.muster-copy.tmp`
  return { warehouse, options: { scratch, ...(prefix !== undefined && { schemaPrefix: prefix }) } }
}

function openTarget({ warehouse, options }: Place): Promise<Engine> {
  if (warehouse.engine === 'duckdb') return openDuckdb(warehouse.file)
  return openPostgres({ url: warehouse.url.reveal(), shown: warehouse.shown }, options)
}

function openSource({ warehouse, options }: Place, target: Engine) {
  if (warehouse.engine === 'duckdb') return fileSource(warehouse.file, target)
  return serverSource({ url: warehouse.url.reveal(), shown: warehouse.shown }, options, target)
}

/** Where the pages of the source lie by default: they stay, and the settings of the target have to name them. */
const landingAdvice = ({ warehouse }: Place): string =>
  warehouse.engine === 'duckdb'
    ? `the landed pages stay in ${warehouse.file.replace(/\.duckdb$/, '')}.landing (or where landing says): name that folder as landing of the new connection`
    : 'the landed pages stay where landing of the old connection says: name the same folder in the new one'

export const command: CommandModule = {
  name: 'copy',
  summary: 'move a warehouse to another engine or place, with its marks',
  options: [
    { flags: '--from <warehouse>', summary: 'duckdb:FILE or postgres://…; it is only read' },
    { flags: '--to <warehouse>', summary: 'the same; must be empty' },
    { flags: '--from-prefix <text>', summary: 'schemaPrefix of the first' },
    { flags: '--to-prefix <text>', summary: 'schemaPrefix of the second' },
  ],
  examples: ['muster copy --from duckdb:data/acme.duckdb --to postgres://muster@db.example.com/analytics'],
  async run(context, _args, options) {
    const [from, to] = [placeOf(context, options, 'from'), placeOf(context, options, 'to')]
    const target = await openTarget(to)
    try {
      await migrate(target, new Date(context.clock.now()).toISOString())
      const source = await openSource(from, target)
      try {
        const copied = await copyWarehouse(source, target, ({ table, rows }) => {
          if (rows > 0 && !context.json && !context.globals.quiet)
            context.stderr.write(`${table}: ${formatNumber(rows)} rows\n`)
        })
        const rows = copied.reduce((sum, one) => sum + one.rows, 0)
        const landing = landingAdvice(from)
        if (context.json) printJson(context, { tables: copied, rows, landing })
        else
          printLine(
            context,
            `copied ${copied.length} tables, ${formatNumber(rows)} rows, counted alike; ${landing}`,
          )
        return 0
      } finally {
        await source.close()
      }
    } finally {
      await target.close()
    }
  },
}
