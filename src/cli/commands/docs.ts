/** `muster docs`: writes the data dictionary as HTML or Markdown, and bundles for BI tools. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { openIfSynced } from '../../app/connection/warehouse.ts'
import { buildDictionary } from '../../dictionary/build.ts'
import type { Dictionary } from '../../dictionary/entries.ts'
import { dictionaryPage } from '../../dictionary/html/page.ts'
import type { Example, MartQuestion } from '../../dictionary/html/questions.ts'
import { dictionaryMarkdown } from '../../dictionary/markdown.ts'
import { readStored, type StoredRows } from '../../dictionary/stored.ts'
import { type TreatmentOf, withTreatments } from '../../dictionary/treatments.ts'
import { formatNumber } from '../../lib/counted.ts'
import { packageFile } from '../../lib/package.ts'
import { type Mart, readMarts } from '../../marts/mart.ts'
import { FieldPolicy } from '../../privacy/fields/policy.ts'
import { semanticCatalogue } from '../../semantic/catalogue.ts'
import {
  beginningOf,
  type OutputRules,
  requireDistinct,
  requireOutput,
  writeOutput,
} from '../../temporary/output-file.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy, requireRoomFor } from '../guarded.ts'
import { bundleLine, bundleOptions, wantedFormats, writeBundles } from '../reports/bundles.ts'
import { printJson, printLine } from '../terminal/output.ts'

const examples = (): Readonly<Record<string, Example>> =>
  JSON.parse(readFileSync(packageFile('assets/dictionary/examples.json'), 'utf8'))

/** The questions that marts answer, with the packaged example rows; a view shares those of its mart. */
function questionsOf(marts: readonly Mart[]): MartQuestion[] {
  const rows = examples()
  return semanticCatalogue(marts)
    .filter(({ kind }) => kind === 'fact')
    .map(({ name, question, questionSql }) => {
      const example = rows[name]
      return { mart: name, question, sql: questionSql, ...(example && { example }) }
    })
}

const defaultFile = 'dictionary.html'

interface WrittenFile {
  readonly file: string
  readonly bytes: number
}

interface DocsTarget {
  readonly file: string
  readonly render: typeof dictionaryPage
}

/** The files to write. Throws UsageError for one that may not be written before anything is computed. */
function targetsOf(context: CommandContext, options: Options): DocsTarget[] {
  const second = textOption(options, 'markdown')
  const isAlone = second === undefined && wantedFormats(options).length === 0
  const first = textOption(options, 'out') ?? (isAlone ? defaultFile : undefined)
  const wanted: [string | undefined, DocsTarget['render']][] = [
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

/** Marks the first lines of every page of this command, so that it recognises its own files. */
const marker = 'written by muster docs'

const rulesOf = (context: CommandContext, options: Options): OutputRules => ({
  guarded: guardedBy(context),
  isForced: flagOption(options, 'force'),
  isOurs: file => beginningOf(file).includes(marker),
})

const page: DocsTarget['render'] = (dictionary, stored) =>
  dictionaryPage(dictionary, stored, questionsOf(readMarts())).replace(
    '<head>',
    () => `<head><meta name="generator" content="${marker}">`,
  )

const markdown: DocsTarget['render'] = (dictionary, stored) =>
  `<!-- ${marker}: changes by hand are lost -->\n\n${dictionaryMarkdown(dictionary, stored)}`

/** Undefined without settings or before the first sync: the dictionary then has only declarations. */
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

/** By the field policy of the settings, if there are any. */
function treatmentsIn(context: CommandContext): TreatmentOf {
  if (!context.hasSettings()) return () => undefined
  const policy = new FieldPolicy({ rules: context.stored().fields?.rules ?? [] })
  return (resource, path) => policy.at(resource, path)
}

interface DocsResult {
  readonly report: object
  readonly lines: readonly string[]
}

async function writePages(
  context: CommandContext,
  targets: readonly DocsTarget[],
  options: Options,
): Promise<DocsResult> {
  const dictionary = withTreatments(await buildDictionary(readMarts()), treatmentsIn(context))
  const stored = await storedIn(context, dictionary, options)
  const rules = rulesOf(context, options)
  const files = targets.map(
    ({ file, render }): WrittenFile => ({
      file,
      bytes: writeOutput(file, render(dictionary, stored), rules),
    }),
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
      summary: `one self-contained HTML page; ${defaultFile} unless --markdown is given`,
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
