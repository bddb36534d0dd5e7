/** Checks that the commands which name incomplete resources name those of the ledger, and no others. */
import type { IncompleteResource } from '../../src/state/scans/completeness.ts'
import { type Ended, program } from './dag-run.ts'
import { askedLaws } from './laws.ts'
import { saidOf } from './naming.ts'
import { resourceOf } from './oracle.ts'
import { require, type Setting, tellEnd } from './setting.ts'

type Names = ReadonlySet<string>

const namesIn = (rows: readonly { readonly resource: string }[]): Names =>
  new Set(rows.map(({ resource }) => resource))

interface Printed {
  readonly sync: { readonly incomplete: readonly IncompleteResource[] }
  readonly status: { readonly incomplete: readonly IncompleteResource[] }
  readonly check: {
    readonly results: readonly { readonly failures: readonly { readonly samples: readonly string[] }[] }[]
  }
}

const healthOf = 'select resource, incomplete_reason from mart.data_health where not is_complete'

async function run(setting: Setting, line: string): Promise<Ended> {
  const done = await setting.machine.runAlone(() => program(setting.place, line))
  // Nothing kills it.
  const ended = done!.result
  tellEnd(setting, ended)
  return ended
}

const printed = <Of>({ printed: text = '' }: Ended): Of => JSON.parse(text) as Of

/** Names of lists that a command should name and does not, or names and should not. */
function unlike(
  what: string,
  { told, lacking, of }: { told: Names; lacking: Names; of: readonly string[] },
): string[] {
  return of.flatMap(list => {
    if (told.has(list) === lacking.has(list)) return []
    return [
      `${what} ${told.has(list) ? 'names' : 'does not name'} ${list}, and the ledger ${lacking.has(list) ? 'does' : 'does not'}`,
    ]
  })
}

async function lackingOf({ machine, climate }: Setting): Promise<Names> {
  const engine = await machine.engine()
  const all = await Promise.all(
    climate.lists.map(async list => (await saidOf(engine, resourceOf(list))).reasons),
  )
  return namesIn(all.flat())
}

/** The samples of a check are five at most: a line for each list that is drawn fits. */
const named = (samples: readonly string[]): Names => new Set(samples.map(text => text.split(',')[0] ?? ''))

export async function lawOfCommands(setting: Setting): Promise<void> {
  const { machine, climate, counts } = setting
  const of = climate.lists
  await machine.stop()
  const sync = await run(setting, `sync ${['key', ...of].join(' ')} --json`)
  const lacking = await lackingOf(setting)
  counts.add(askedLaws.told, lacking.size)
  await machine.stop()
  const compare = (what: string, told: Names): void => require(setting, unlike(what, { told, lacking, of }))
  // One that ended well says nothing of what a sweep before it found.
  if (sync.code !== 0) compare('sync', namesIn(printed<Printed['sync']>(sync).incomplete))
  compare('status', namesIn(printed<Printed['status']>(await run(setting, 'status --json')).incomplete))
  const check = await run(setting, 'check resources_complete --json')
  const samples = printed<Printed['check']>(check).results.flatMap(({ failures }) =>
    failures.flatMap(one => one.samples),
  )
  compare('check', named(samples))
  if (lacking.size > 0 && check.code !== 3)
    require(setting, [`check ended with ${check.code}, and ${[...lacking]} are not whole`])
  await run(setting, 'build data_health --quiet')
  await machine.stop()
  const health = await (await machine.engine()).rows<{ resource: string }>(healthOf)
  compare('mart.data_health', namesIn(health))
  await machine.stop()
  const publish = await run(setting, 'publish --require complete')
  const refusal = publish.message
  const refused = new Set(of.filter(list => refusal.includes(`${list} (`)))
  if (publish.code === 0 || refusal.includes('would be incomplete'))
    compare('publish --require complete', refused)
}
