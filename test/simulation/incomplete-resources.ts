/** Checks that each command which names incomplete resources names exactly those of the ledger. */
import type { IncompleteResource } from '../../src/state/scans/completeness.ts'
import { type CommandResult, runCommand } from './dag-run.ts'
import { lawCounters } from './laws.ts'
import { resourceOf } from './oracle.ts'
import { readReport } from './reporting.ts'
import { assertLawful, logResult, type Setting } from './setting.ts'

type Names = ReadonlySet<string>

const namesIn = (rows: readonly { readonly resource: string }[]): Names =>
  new Set(rows.map(({ resource }) => resource))

interface CommandOutput {
  readonly sync: { readonly incomplete: readonly IncompleteResource[] }
  readonly status: { readonly incomplete: readonly IncompleteResource[] }
  readonly check: {
    readonly results: readonly { readonly failures: readonly { readonly samples: readonly string[] }[] }[]
  }
}

const healthOf = 'select resource, incomplete_reason from mart.data_health where not is_complete'

async function run(setting: Setting, line: string): Promise<CommandResult> {
  const done = await setting.machine.runAlone(() => runCommand(setting.environment, line))
  // Defined, because no kill is planned.
  const result = done!.result
  logResult(setting, result)
  return result
}

const parseOutput = <Of>({ printed: text = '' }: CommandResult): Of => JSON.parse(text) as Of

/** Lists that a command names and the ledger does not, or the other way round. */
function compareNames(
  what: string,
  { named, incomplete, lists }: { named: Names; incomplete: Names; lists: readonly string[] },
): string[] {
  return lists.flatMap(list => {
    if (named.has(list) === incomplete.has(list)) return []
    return [
      `${what} ${named.has(list) ? 'names' : 'does not name'} ${list}, and the ledger ${incomplete.has(list) ? 'does' : 'does not'}`,
    ]
  })
}

async function readIncomplete({ machine, scenario }: Setting): Promise<Names> {
  const engine = await machine.engine()
  const all = await Promise.all(
    scenario.lists.map(async list => (await readReport(engine, resourceOf(list))).reasons),
  )
  return namesIn(all.flat())
}

/** A check prints at most five samples, which is enough for the lists of a seed. */
const namesInSamples = (samples: readonly string[]): Names =>
  new Set(samples.map(text => text.split(',')[0] ?? ''))

export async function lawOfCommands(setting: Setting): Promise<void> {
  const { machine, scenario, counts } = setting
  const lists = scenario.lists
  await machine.stop()
  const sync = await run(setting, `sync ${['key', ...lists].join(' ')} --json`)
  const incomplete = await readIncomplete(setting)
  counts.add(lawCounters.namedByCommands, incomplete.size)
  await machine.stop()
  const compare = (what: string, named: Names): void =>
    assertLawful(setting, compareNames(what, { named, incomplete, lists }))
  // A sync with exit code 0 does not repeat what an earlier sweep found.
  if (sync.code !== 0) compare('sync', namesIn(parseOutput<CommandOutput['sync']>(sync).incomplete))
  compare(
    'status',
    namesIn(parseOutput<CommandOutput['status']>(await run(setting, 'status --json')).incomplete),
  )
  const check = await run(setting, 'check resources_complete --json')
  const samples = parseOutput<CommandOutput['check']>(check).results.flatMap(({ failures }) =>
    failures.flatMap(one => one.samples),
  )
  compare('check', namesInSamples(samples))
  if (incomplete.size > 0 && check.code !== 3)
    assertLawful(setting, [`check ended with ${check.code}, and ${[...incomplete]} are incomplete`])
  await run(setting, 'build data_health --quiet')
  await machine.stop()
  const health = await (await machine.engine()).rows<{ resource: string }>(healthOf)
  compare('mart.data_health', namesIn(health))
  await machine.stop()
  const publish = await run(setting, 'publish --require complete')
  const refusal = publish.message
  const refused = new Set(lists.filter(list => refusal.includes(`${list} (`)))
  if (publish.code === 0 || refusal.includes('would be incomplete'))
    compare('publish --require complete', refused)
}
