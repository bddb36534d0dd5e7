/** `muster docs`: the data dictionary, as one HTML page or as Markdown. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openIfSynced } from '../../app/connection/warehouse.ts'
import { buildDictionary } from '../../dictionary/build.ts'
import type { Dictionary } from '../../dictionary/entries.ts'
import { dictionaryPage } from '../../dictionary/html/page.ts'
import { dictionaryMarkdown } from '../../dictionary/markdown.ts'
import { readStored, type StoredRows } from '../../dictionary/stored.ts'
import { formatNumber } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'
import { readMarts } from '../../marts/mart.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
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

/** The files to write. Throws MusterError for a missing folder before anything is computed. */
function targetsOf(context: CommandContext, options: Options): Target[] {
  const markdown = textOption(options, 'markdown')
  const page = textOption(options, 'out') ?? (markdown === undefined ? usualFile : undefined)
  const wanted: [string | undefined, Target['render']][] = [
    [page, dictionaryPage],
    [markdown, dictionaryMarkdown],
  ]
  const targets = wanted.flatMap(([name, render]) =>
    name === undefined ? [] : [{ file: resolve(context.cwd, name), render }],
  )
  const homeless = targets.find(({ file }) => !existsSync(dirname(file)))
  if (!homeless) return targets
  throw new MusterError({
    what: 'there is no such folder',
    where: dirname(homeless.file),
    next: 'create it, or name another file',
  })
}

/** Writes and renames, so that readers see the old page or the new one, never a part. Throws MusterError. */
function writeWhole(file: string, text: string): Written {
  const draft = `${file}.writing`
  try {
    writeFileSync(draft, text)
    renameSync(draft, file)
    return { file, bytes: Buffer.byteLength(text) }
  } catch (cause) {
    rmSync(draft, { force: true })
    throw new MusterError({
      what: 'the dictionary cannot be written',
      where: file,
      next: 'check the permissions of its folder and the free space',
      cause,
    })
  }
}

/** Undefined without settings or before the first sync: then the declarations are all there is. */
async function storedIn(
  context: CommandContext,
  dictionary: Dictionary,
  options: Options,
): Promise<StoredRows | undefined> {
  if (flagOption(options, 'declared') || !context.hasSettings()) return undefined
  const opened = await openIfSynced(context.connection(), context)
  if (!opened) return undefined
  try {
    return await readStored(opened.handle, dictionary)
  } finally {
    await opened.handle.close()
  }
}

export const command: CommandModule = {
  name: 'docs',
  summary: 'write the data dictionary: every table and column, diagrams, bus matrix and lineage',
  options: [
    {
      flags: '--out <file>',
      summary: `one self-contained HTML page; ${usualFile} unless --markdown is given`,
    },
    { flags: '--markdown <file>', summary: 'the same in Markdown, with diagrams in Mermaid' },
    { flags: '--declared', summary: 'do not open the warehouse: leave out row counts and freshness' },
  ],
  examples: [
    'muster docs',
    'muster docs --out public/dictionary.html --markdown docs/dictionary.md',
    'muster docs --declared',
  ],
  run: async (context, _, options) => {
    const targets = targetsOf(context, options)
    const dictionary = await buildDictionary(readMarts())
    const stored = await storedIn(context, dictionary, options)
    const files = targets.map(({ file, render }) => writeWhole(file, render(dictionary, stored)))
    const columns = dictionary.tables.reduce((sum, table) => sum + table.columns.length, 0)
    const asOf = stored?.asOf ?? null
    if (context.json) {
      printJson(context, { files, tables: dictionary.tables.length, columns, asOf })
      return 0
    }
    const what = `${formatNumber(dictionary.tables.length)} tables, ${formatNumber(columns)} columns`
    const rows = stored ? '' : ', as declared, without row counts'
    for (const { file, bytes } of files)
      printLine(context, `${what}${rows}, ${(bytes / 1e6).toFixed(1)} MB: ${file}`)
    return 0
  },
}
