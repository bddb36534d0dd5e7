/** `muster publish`: writes a fresh copy for analysts, without personal data, of everything or of one company. */
import { resolve } from 'node:path'
import { type CompanyCopy, publishCompany } from '../../app/company-copy.ts'
import { duckdbFile, requireRoom, stemOf } from '../../app/connection/storage.ts'
import { openMade, toleranceOf } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import {
  type PublishedCopy,
  publish,
  requireCompleteSources,
  requireTolerable,
} from '../../publish/publish.ts'
import { requireUnguarded } from '../../temporary/output-file.ts'
import { companyFile, publishedFile } from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { anyText, type CommandModule, flagOption, type Options, oneOf, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { incompleteLines } from '../reports/incomplete.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'

/** Readers of a server never wait for a writer, so no copy is needed; completeness is still reported. */
async function notNeeded(context: CommandContext, requiresComplete: boolean): Promise<0> {
  await withEngine(context, async engine => {
    await requireTolerable(engine)
    if (requiresComplete) await requireCompleteSources(engine)
  })
  const why = 'PostgreSQL needs no published copy: star and mart can be read there at any time'
  if (context.json) printJson(context, { published: false, why })
  else printLine(context, why)
  return 0
}

async function withEngine<Result>(
  context: CommandContext,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const connection = context.stored()
  requireRoom(connection)
  const engine = await openMade(connection)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

function print(context: CommandContext, published: PublishedCopy | CompanyCopy, of = ''): void {
  if (context.json) {
    printJson(context, published)
    return
  }
  const filled = published.tables.filter(({ rows }) => rows > 0)
  if (context.globals.verbose)
    printTable(
      context,
      ['table', 'rows'],
      filled.map(({ name, rows }) => [name, rows]),
    )
  const rows = filled.reduce((sum, table) => sum + table.rows, 0)
  const parts = `${published.tables.length} tables, ${published.views.length} views, ${counted(rows, 'row')}`
  for (const line of incompleteLines(published.incomplete)) printLine(context, line)
  printLine(context, `published ${parts}${of}, ${(published.bytes / 1e6).toFixed(1)} MB: ${published.file}`)
}

/** The default file, beside the working file; a server has none. */
function fileOf(context: CommandContext, company: string, options: Options): string {
  const out = textOption(options, 'out')
  if (out !== undefined) return resolve(context.cwd, out)
  const file = duckdbFile(context.stored())
  // An id with a slash would point into another folder.
  if (file !== undefined && /^[\w-]+$/.test(company)) return companyFile(file, company)
  throw new UsageError({
    what: 'the copy of a company needs a file',
    next: `name it: muster publish --company ${company} --out FILE.duckdb`,
  })
}

async function publishOne(context: CommandContext, company: string, options: Options): Promise<0> {
  const connection = context.stored()
  const file = fileOf(context, company, options)
  requireUnguarded(file, guardedBy(context))
  requireRoom(connection, file)
  const progress = createProgress(context)
  const { clock, rng, signal } = context
  const request = {
    company,
    file,
    requiresComplete: textOption(options, 'require') === 'complete',
    isForced: flagOption(options, 'force'),
    listedOf: stemOf(connection),
  }
  const onStep = (resource: string, rows: number): void => {
    if (rows > 0) progress.update({ resource, state: 'done', rows, isMinor: !context.globals.verbose })
  }
  let copy: CompanyCopy
  try {
    copy = await publishCompany(connection, request, { clock, rng, signal, onStep })
  } finally {
    progress.stop()
  }
  print(context, copy, ` of ${copy.company.name}`)
  if (!context.json)
    for (const { name, message } of copy.leftOut) printLine(context, `without mart.${name}: ${message}`)
  return 0
}

function requireCompany(options: Options): void {
  if (textOption(options, 'out') === undefined) return
  throw new UsageError({
    what: '--out goes with --company: a copy of everything is beside its working file',
    next: 'leave it out, or add --company ID',
  })
}

export const command: CommandModule = {
  options: [
    {
      flags: '--require <what>',
      summary: 'complete: refuse while a resource is incomplete, and keep the previous copy',
      parse: oneOf('complete'),
    },
    {
      flags: '--company <id>',
      summary: 'only rows of this company, with marts built over them; also from PostgreSQL',
      parse: anyText,
    },
    { flags: '--out <file>', summary: 'with --company: the DuckDB file to write' },
    { flags: '--force', summary: 'also replace a file that is not a published copy' },
  ],
  lineage: (context, options) => {
    const company = textOption(options, 'company')
    if (company !== undefined) return { copy: fileOf(context, company, options) }
    const file = duckdbFile(context.stored())
    return file === undefined ? 'none' : { copy: publishedFile(file) }
  },
  examples: [
    'muster publish',
    'muster publish --require complete',
    'muster publish --connection acme --json',
    'muster publish --company 647d2580351490e224ae34fe --out shared/north.duckdb',
  ],
  run: async (context, _, options) => {
    const company = textOption(options, 'company')
    if (company !== undefined) return publishOne(context, company, options)
    requireCompany(options)
    const requiresComplete = textOption(options, 'require') === 'complete'
    if (duckdbFile(context.stored()) === undefined) return notNeeded(context, requiresComplete)
    return withEngine(context, async (engine): Promise<0> => {
      const { clock, rng } = context
      const tolerance = toleranceOf(context.stored())
      const isForced = flagOption(options, 'force')
      print(
        context,
        await publish({ engine, clock, rng, version: programVersion, requiresComplete, isForced, tolerance }),
      )
      return 0
    })
  },
}
