/** `muster docs`: the data dictionary, as one HTML page or as Markdown, and the catalogue of marts for BI tools. */
import { resolve } from 'node:path'
import { openIfSynced } from '../../app/connection/warehouse.ts'
import { buildDictionary } from '../../dictionary/build.ts'
import type { Dictionary } from '../../dictionary/entries.ts'
import { dictionaryPage } from '../../dictionary/html/page.ts'
import { dictionaryMarkdown } from '../../dictionary/markdown.ts'
import { readStored, type StoredRows } from '../../dictionary/stored.ts'
import { formatNumber } from '../../lib/counted.ts'
import { readMarts } from '../../marts/mart.ts'
import {
  beginningOf,
  type OutputRules,
  requireDistinct,
  requireOutput,
  writeOutput,
} from '../../temporary/output-file.ts'
import { requireRoomFor } from '../around/room.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { bundleLine, bundleOptions, wantedFormats, writeBundles } from '../reports/bundles.ts'
import { questionsOf } from '../reports/mart-questions.ts'
import { printJson, printLine } from '../terminal/output.ts'

const usualFile = 'dictionary.html'

interface Written {
  readonly file: string
  readonly bytes: number
}

interface Target {
  readonly file: string
  readonly render: typeof dictionaryPage
}

/** The files to write. Throws UsageError for one that may not be written before anything is computed. */
function targetsOf(context: CommandContext, options: Options): Target[] {
  const second = textOption(options, 'markdown')
  const isAlone = second === undefined && wantedFormats(options).length === 0
  const first = textOption(options, 'out') ?? (isAlone ? usualFile : undefined)
  const wanted: [string | undefined, Target['render']][] = [
    [first, page],
    [second, markdown],
  ]
  const targets = wanted.flatMap(([name, render]) =>
    name === undefined ? [] : [{ file: resolve(context.cwd, name), render }],
  )
  const rules = rulesOf(context, options)
  for (const { file } of targets) requireOutput(file, rules)
  requireDistinct(targets.map(({ file }) => file))
  for (const { file } of targets) requireRoomFor(context, file)
  return targets
}

/** In the first lines of whatever this command writes, by which it knows its pages again. */
const marker = 'written by muster docs'

const rulesOf = (context: CommandContext, options: Options): OutputRules => ({
  guarded: guardedBy(context),
  isForced: flagOption(options, 'force'),
  isOurs: file => beginningOf(file).includes(marker),
})

const page: Target['render'] = (dictionary, stored) =>
  dictionaryPage(dictionary, stored, questionsOf(readMarts())).replace(
    '<head>',
    () => `<head><meta name="generator" content="${marker}">`,
  )

const markdown: Target['render'] = (dictionary, stored) =>
  `<!-- ${marker}: changes by hand are lost -->\n\n${dictionaryMarkdown(dictionary, stored)}`

/** Undefined without settings or before the first sync: then the declarations are all there is. */
async function storedIn(
  context: CommandContext,
  dictionary: Dictionary,
  options: Options,
): Promise<StoredRows | undefined> {
  if (flagOption(options, 'declared') || !context.hasSettings()) return undefined
  const opened = await openIfSynced(context.stored(), context, { needs: 'data' })
  if (!opened) return undefined
  try {
    return await readStored(opened.handle, dictionary)
  } finally {
    await opened.handle.close()
  }
}

interface Pages {
  readonly report: object
  readonly lines: readonly string[]
}

async function writePages(
  context: CommandContext,
  targets: readonly Target[],
  options: Options,
): Promise<Pages> {
  const dictionary = await buildDictionary(readMarts())
  const stored = await storedIn(context, dictionary, options)
  const rules = rulesOf(context, options)
  const files = targets.map(
    ({ file, render }): Written => ({ file, bytes: writeOutput(file, render(dictionary, stored), rules) }),
  )
  const columns = dictionary.tables.reduce((sum, table) => sum + table.columns.length, 0)
  const what = `${formatNumber(dictionary.tables.length)} tables, ${formatNumber(columns)} columns`
  const rows = stored ? '' : ', as declared, without row counts'
  return {
    report: { files, tables: dictionary.tables.length, columns, asOf: stored?.asOf ?? null },
    lines: files.map(({ file, bytes }) => `${what}${rows}, ${(bytes / 1e6).toFixed(1)} MB: ${file}`),
  }
}

export const command: CommandModule = {
  options: [
    {
      flags: '--out <file>',
      summary: `one self-contained HTML page; ${usualFile} unless --markdown is given`,
    },
    { flags: '--markdown <file>', summary: 'the same in Markdown, with diagrams in Mermaid' },
    ...bundleOptions,
    { flags: '--force', summary: 'also replace a file that muster did not write' },
    { flags: '--declared', summary: 'do not open the warehouse: leave out row counts and freshness' },
  ],
  examples: [
    'muster docs',
    'muster docs --out public/dictionary.html --markdown docs/dictionary.md',
    'muster docs --declared',
    'muster docs --superset bi/superset --dbt bi/dbt --odcs bi/contract',
  ],
  run: async (context, _, options) => {
    const targets = targetsOf(context, options)
    const bundles = writeBundles(context, options, rulesOf(context, options))
    const written = targets.length === 0 ? undefined : await writePages(context, targets, options)
    if (context.json) {
      printJson(context, { ...(written?.report ?? { files: [] }), bundles })
      return 0
    }
    for (const line of [...bundles.map(bundleLine), ...(written?.lines ?? [])]) printLine(context, line)
    return 0
  },
}
