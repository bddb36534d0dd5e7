/** One seed: nights of a service that changes, fails and breaks its contract while the process is killed; then rest, and the verdict. */
import { dayMs, hourMs, minuteMs } from '../../src/lib/dates.ts'
import { namedRng } from '../../src/lib/rng.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { differencesById, lawOfSignals } from './by-id.ts'
import { fetchById, receive, sweep, sync } from './dag-run.ts'
import { lawOfCommands } from './incomplete-resources.ts'
import { askedLaws } from './laws.ts'
import { differences } from './oracle.ts'
import { others } from './others.ts'
import { RunCounts } from './run-counts.ts'
import {
  type Command,
  firstNight,
  openSetting,
  require,
  runAll,
  type SeedParts,
  type Setting,
} from './setting.ts'

/** Quiet nights within which the warehouse must hold the source. */
const maxQuietNights = 4

/** The other commands of a night cost as much as all before, so most nights have none of them. */
const shareOfOthers = { wide: 0.08, narrow: 0.5 }
/** Of the nights over a whole warehouse, those after which the commands are asked what is not whole. */
const shareTold = 0.5
/** Of the seeds, those that are asked for one more sync at rest, and those that are swept at rest though nothing differs. */
const shareOfSyncsAgain = 0.3
const shareOfSweepsAtRest = 0.2

/** Nobody drains an inbox that nothing came to. */
const receiving = ({ service, place, counts }: Setting): Command[] =>
  service.told.length === 0 && !place.hasEvents
    ? []
    : [engine => receive(place, engine, { deliveries: service.told, counts })]

/**
 * Records by id change minutes after they were read, when nothing but an event makes it likely: what is lost of an event
 * shows only then, because the next night reads them in any case.
 */
async function evening(setting: Setting): Promise<void> {
  const { climate, service, place, clock } = setting
  if (climate.byId.length === 0) return
  service.still()
  clock.advance(3 * minuteMs)
  service.evening()
  const ended = await runAll(setting, [
    ...receiving(setting),
    engine => fetchById(place, engine, climate.byId),
  ])
  if (ended.length === 2 && ended.every(({ code }) => code === 0)) await requireSignals(setting)
}

/** Returns how many steps of its sync left something behind. */
async function stormyNight(setting: Setting, night: number): Promise<number> {
  const { climate, service, machine, clock, place, seed, onlyKill, narrowed } = setting
  const rng = namedRng(seed, `night ${night}`)
  const { lists, byId } = climate
  const commands: Command[] = [
    ...receiving(setting),
    engine => sync(place, engine, { names: [...lists, ...byId] }),
    ...(rng() < climate.sweeps
      ? [(engine: Engine) => sweep(place, engine, { names: [...lists, ...byId] })]
      : []),
  ]
  const drawn = rng() < climate.kills ? machine.drawnKill(lists.length) : undefined
  const kill = onlyKill ? onlyKill.night === night && onlyKill.kill : drawn
  service.storm()
  if (night === climate.quirksFrom) service.deviate()
  await runAll(setting, commands, kill || undefined)
  const lasting = machine.lastingSteps
  const share = shareOfOthers[narrowed.isWide ? 'wide' : 'narrow']
  if (climate.isWhole && rng() < share && !onlyKill) await others(setting, rng)
  if (climate.isWhole && namedRng(seed, `told ${night}`)() < shareTold && !onlyKill)
    await lawOfCommands(setting)
  if (climate.hasEvenings && !onlyKill) await evening(setting)
  if (rng() < 0.1) await machine.stop()
  clock.set(firstNight + night * dayMs - hourMs * 12)
  return lasting
}

const rowsTouched = ({ resources }: RunResult): number =>
  resources
    .filter(({ resource }) => resource !== 'key')
    .reduce((sum, one) => sum + one.rows_inserted + one.rows_changed + one.rows_removed, 0)

async function differing({ climate, machine, service }: Setting): Promise<string[]> {
  const engine = await machine.engine()
  const found: string[] = []
  const { lists } = climate
  for (const list of lists) found.push(...(await differences(engine, service.url, list)))
  for (const name of climate.byId) found.push(...(await differencesById({ engine, service, name }, lists)))
  return found
}

async function requireSignals(setting: Setting): Promise<void> {
  const { climate, machine, service, counts } = setting
  const engine = await machine.engine()
  for (const name of climate.byId) {
    const { asked, excused, faults } = await service.unspoiled(() => lawOfSignals({ engine, service, name }))
    counts.add(askedLaws.signals, asked)
    counts.add(askedLaws.excused, excused)
    require(setting, faults)
  }
}

/** Sync, and where something differs still a sync and a sweep of somebody who knows that it is gone. */
async function quietNight(setting: Setting, isSwept: boolean): Promise<string[]> {
  const { climate, place } = setting
  const { lists, byId } = climate
  const ended = await runAll(setting, [
    ...receiving(setting),
    engine => sync(place, engine, { names: [...lists, ...byId] }),
    ...(isSwept ? [sweeping(setting)] : []),
  ])
  if (ended.every(({ code }) => code === 0)) await requireSignals(setting)
  const found = await differing(setting)
  if (found.length === 0 || isSwept) return found
  const knowing: Command = engine =>
    sync(place, engine, { names: [...lists, ...byId], maxDeletions: maxGone })
  await runAll(setting, [knowing, sweeping(setting)])
  return differing(setting)
}

/** More than any list of the simulation holds. */
const maxGone = 1000

const sweeping =
  ({ climate, place }: Setting): Command =>
  engine =>
    sweep(place, engine, { names: [...climate.lists, ...climate.byId], maxDeletions: maxGone })

/** Records that wait to be looked at again: a sync asks for one of them a day and list. */
async function inQuarantine({ machine }: Setting): Promise<number> {
  const engine = await machine.engine()
  const [row] = await engine.rows<{ n: unknown }>(
    'select count(*) as n from ops.quarantine where resolved_at is null',
  )
  return Number(row?.n)
}

/** Nothing changes any more, and every answer is right: the warehouse must come to hold the source, and stay as it is. */
async function rest(setting: Setting, counted: RunCounts): Promise<void> {
  const { climate, service, clock, place, tell, seed, narrowed, counts } = setting
  const rng = namedRng(seed, 'rest')
  service.calm()
  service.mend()
  let found: string[] = []
  for (let night = 1; night <= maxQuietNights; night += 1) {
    clock.advance(dayMs)
    tell(`quiet night ${night}, ${clock.iso}`)
    counted.begin()
    found = await quietNight(setting, narrowed.isWide || rng() < shareOfSweepsAtRest)
    counted.end(false)
    if (found.length === 0) break
    tell(`  ${found.length} differences, such as ${found[0]}`)
  }
  require(setting, found)
  if (rng() > shareOfSyncsAgain && !narrowed.isWide) return
  counts.add(askedLaws.again)
  const { lists, byId } = climate
  const waiting = await inQuarantine(setting)
  const [again] = await runAll(setting, [engine => sync(place, engine, { names: [...lists, ...byId] })])
  if (again?.code !== 0) require(setting, [`at rest a sync ended with ${again?.code}: ${again?.message}`])
  const left = waiting - (await inQuarantine(setting))
  const touched = again?.outcome ? rowsTouched(again.outcome) : 0
  if (touched > left) require(setting, [`a sync with nothing new touched ${touched} rows`])
}

/** Returns the steps of each night that left something behind. */
async function live(setting: Setting): Promise<number[]> {
  const { climate, service, clock, tell, onlyKill } = setting
  const counted = new RunCounts(setting)
  const lasting: number[] = []
  tell(`climate ${JSON.stringify(climate)}`)
  for (let night = 1; night <= (onlyKill?.night ?? climate.nights); night += 1) {
    service.day()
    tell(`night ${night}, ${clock.iso}`)
    counted.begin()
    lasting.push(await stormyNight(setting, night))
    counted.end(night >= climate.quirksFrom)
  }
  await rest(setting, counted)
  return lasting
}

/** Throws Broken for a law that does not hold; returns the steps of each stormy night that left something behind. */
export async function runSeed(parts: SeedParts): Promise<readonly number[]> {
  const setting = await openSetting(parts)
  const { service, machine, disk } = setting
  try {
    return await live(setting)
  } finally {
    await machine.crash()
    await service.close()
    await disk.remove()
  }
}
