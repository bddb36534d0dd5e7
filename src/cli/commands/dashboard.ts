/** `muster dashboard`: shows figures as pages, served on this machine or written into one file. */
import { once } from 'node:events'
import { resolve } from 'node:path'
import { dashboardSource } from '../../app/connection/dashboard-source.ts'
import { filteredBy, readFilters } from '../../dashboard/filters.ts'
import { pageNamed } from '../../dashboard/pages/pages.ts'
import type { DashboardPage } from '../../dashboard/panel.ts'
import type { DashboardOptions } from '../../dashboard/server.ts'
import { tokenFor } from '../../dashboard/token.ts'
import { UsageError } from '../../lib/errors.ts'
import { beginningOf, type OutputRules, requireOutput, writeOutput } from '../../temporary/output-file.ts'
import {
  anyText,
  type CommandModule,
  calendarDay,
  flagOption,
  integerBetween,
  listOption,
  numberOf,
  type Options,
  repeated,
  textOf,
  textOption,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { printJson, printLine } from '../terminal/output.ts'

const largestPort = 65_535

/** Marks the first lines of a report, so that the command recognises its own files. */
const marker = 'written by muster dashboard'

export const command: CommandModule = {
  options: [
    { flags: '--host <address>', summary: 'address to listen on', fallback: '127.0.0.1' },
    {
      flags: '--port <number>',
      summary: 'port to listen on; 0 takes a free one',
      parse: integerBetween(0, largestPort),
      fallback: 8090,
    },
    {
      flags: '--allow-host <name>',
      summary: 'a host name that a proxy uses in requests; may be repeated',
      parse: repeated(anyText),
    },
    {
      flags: '--token',
      summary: 'require the token of the printed address; always required from other machines',
    },
    { flags: '--out <file>', summary: 'write all pages into one HTML file instead of serving them' },
    { flags: '--page <name>', summary: 'only this page; may be repeated', parse: repeated(anyText) },
    { flags: '--from <day>', summary: 'first day', parse: calendarDay },
    { flags: '--to <day>', summary: 'last day', parse: calendarDay },
    { flags: '--compare', summary: 'compare with the period before; needs --from' },
    ...filteredBy.map(name => ({
      flags: `--${name} <id>`,
      summary: `only this ${name}; may be repeated`,
      parse: repeated(anyText),
    })),
    { flags: '--force', summary: 'also replace a file that muster did not write' },
  ],
  notes: [
    'It reads only marts; on DuckDB, from the published copy if there is one.',
    'Pages and filters narrow the report; without --out, the printed address opens the first page named, with the filters.',
    'Without a token, every user of this machine can read the figures. With --allow-host, or a --host that other machines can reach, every request needs the token of the printed address.',
  ],
  examples: [
    'muster dashboard',
    'muster dashboard --port 8443 --allow-host figures.example.com',
    'muster dashboard --out report.html --from 2026-01-01',
    'muster dashboard --out monday.html --page overview --page cost',
    'muster dashboard --out agency.html --agency 647d2580351490e224ae34fe',
  ],
  run: async (context, _, options) => {
    // Rejects wrong pages and filters before anything is opened.
    pagesOf(options)
    const { isCompared, from } = readFilters(filterQuery(options))
    if (isCompared && from === undefined)
      throw new UsageError({
        what: '--compare needs a first day',
        next: 'add --from, such as --from 2026-01-01',
      })
    const file = textOption(options, 'out')
    if (file === undefined) await serve(context, options)
    else await write(context, resolve(context.cwd, file), options)
    return 0
  },
}

function optionsOf(options: Options): DashboardOptions {
  const [host, allowedHosts] = [textOf(options, 'host'), listOption<string>(options, 'allowHost')]
  const token = tokenFor({ host, allowedHosts, isTokenAsked: flagOption(options, 'token') })
  return { host, port: numberOf(options, 'port'), allowedHosts, ...(token && { token }) }
}

async function serve(context: CommandContext, options: Options): Promise<void> {
  const { serveMarts } = await import('../../dashboard/server.ts')
  const source = dashboardSource(context.stored())
  const { clock } = context
  const dashboard = await serveMarts({ source, clock, isReadFirst: true }, optionsOf(options))
  try {
    const [page] = pagesOf(options)
    const query = filterQuery(options)
    if (page) query.set('page', page.id)
    const url = `${dashboard.url}${query.size > 0 ? `?${query}` : ''}${dashboard.fragment}`
    if (context.json) printJson(context, { url })
    else printLine(context, `The dashboard is at ${url}\nCtrl-C stops it.`)
    if (!context.signal.aborted) await once(context.signal, 'abort')
  } finally {
    await dashboard.close()
  }
}

async function write(context: CommandContext, file: string, options: Options): Promise<void> {
  const { MartReader } = await import('../../dashboard/reader.ts')
  const { writeReport } = await import('../../dashboard/report.ts')
  const rules: OutputRules = {
    guarded: guardedBy(context),
    isForced: flagOption(options, 'force'),
    isOurs: one => beginningOf(one).includes(marker),
  }
  requireOutput(file, rules)
  const reader = new MartReader(dashboardSource(context.stored()), context.clock)
  try {
    const filters = readFilters(filterQuery(options))
    const madeAt = new Date(context.clock.now()).toISOString()
    const pages = pagesOf(options)
    const html = await writeReport(reader, { filters, madeAt, ...(pages.length > 0 && { pages }) })
    const bytes = writeOutput(
      file,
      html.replace('<head>', () => `<head><meta name="generator" content="${marker}">`),
      rules,
    )
    const shown = pages.length > 0 ? pages.map(({ title }) => title).join(', ') : 'all pages'
    if (context.json) printJson(context, { file, bytes })
    else printLine(context, `${shown}, ${(bytes / 1e6).toFixed(1)} MB: ${file}`)
  } finally {
    await reader.close()
  }
}

/** Those named, each once. Throws UsageError for one that does not exist. */
const pagesOf = (options: Options): DashboardPage[] => [
  ...new Set(listOption<string>(options, 'page').map(pageNamed)),
]

function filterQuery(options: Options): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of filteredBy) for (const id of listOption<string>(options, name)) query.append(name, id)
  for (const name of ['from', 'to']) {
    const day = textOption(options, name)
    if (day !== undefined) query.set(name, day)
  }
  if (flagOption(options, 'compare')) query.set('compare', 'before')
  return query
}
