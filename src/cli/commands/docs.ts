/** `muster docs`: the data dictionary, as one HTML page or as Markdown. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildDictionary } from '../../dictionary/build.ts'
import type { Dictionary } from '../../dictionary/entries.ts'
import { type Held, readHeld } from '../../dictionary/held.ts'
import { dictionaryPage } from '../../dictionary/html/page.ts'
import { dictionaryMarkdown } from '../../dictionary/markdown.ts'
import { MusterError } from '../../lib/errors.ts'
import { readMarts } from '../../marts/mart.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { formatNumber, printJson, printLine } from '../output.ts'
import { openIfSynced } from '../warehouse.ts'

const usualFile = 'dictionary.html'

interface Written {
  readonly file: string
  readonly bytes: number
}

/** Readers see the page of before or the new one, never half of one. Throws MusterError. */
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
      next: 'check that its folder is there, who may write in it, and its free space',
      cause,
    })
  }
}

/** Without settings, or before the first sync, the declarations say all there is to say. */
async function heldBy(
  context: CommandContext,
  dictionary: Dictionary,
  options: Options,
): Promise<Held | undefined> {
  if (flagOption(options, 'declared') || !context.hasSettings()) return undefined
  const opened = await openIfSynced(context.connection(), context)
  if (!opened) return undefined
  try {
    return await readHeld(opened.handle, dictionary)
  } finally {
    await opened.handle.close()
  }
}

function write(
  context: CommandContext,
  options: Options,
  { dictionary, held }: { dictionary: Dictionary; held: Held | undefined },
): Written[] {
  const markdown = textOption(options, 'markdown')
  const page = textOption(options, 'out') ?? (markdown === undefined ? usualFile : undefined)
  const file = (name: string): string => resolve(context.cwd, name)
  return [
    ...(page === undefined ? [] : [writeWhole(file(page), dictionaryPage(dictionary, held))]),
    ...(markdown === undefined ? [] : [writeWhole(file(markdown), dictionaryMarkdown(dictionary, held))]),
  ]
}

export const command: CommandModule = {
  name: 'docs',
  summary: 'write the data dictionary: every table and column, diagrams, bus matrix and lineage',
  options: [
    {
      flags: '--out <file>',
      summary: `one HTML page that needs nothing else; ${usualFile} unless --markdown is given`,
    },
    { flags: '--markdown <file>', summary: 'the same in Markdown, with diagrams in Mermaid' },
    { flags: '--declared', summary: 'open no warehouse: leave out rows and freshness' },
  ],
  examples: [
    'muster docs',
    'muster docs --out public/dictionary.html --markdown docs/dictionary.md',
    'muster docs --declared',
  ],
  run: async (context, _, options) => {
    const dictionary = await buildDictionary(readMarts())
    const held = await heldBy(context, dictionary, options)
    const files = write(context, options, { dictionary, held })
    const columns = dictionary.tables.reduce((sum, table) => sum + table.columns.length, 0)
    const asOf = held?.asOf ?? null
    if (context.json) {
      printJson(context, { files, tables: dictionary.tables.length, columns, asOf })
      return 0
    }
    const what = `${formatNumber(dictionary.tables.length)} tables, ${formatNumber(columns)} columns`
    const rows = held ? '' : ', as declared, without rows'
    for (const { file, bytes } of files)
      printLine(context, `${what}${rows}, ${(bytes / 1e6).toFixed(1)} MB: ${file}`)
    return 0
  },
}
