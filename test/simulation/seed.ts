/**
 * Runs one seed. For some days the service changes, fails and breaks its contract, and the process is killed. Quiet days follow,
 * after which the warehouse must equal the service.
 */
import { dayMs, hourMs, minuteMs } from '../../src/lib/dates.ts'
import { namedRng } from '../../src/lib/rng.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { differencesById, lawOfSignals } from './by-id.ts'
import { fetchById, receive, sweep, sync } from './dag-run.ts'
import { lawOfCommands } from './incomplete-resources.ts'
import { lawCounters } from './laws.ts'
import { differences } from './oracle.ts'
import { runOtherCommands } from './other-commands.ts'
import { RunCounts } from './run-counts.ts'
import {
  assertLawful,
  type Command,
  firstRunAt,
  openSetting,
  runAll,
  type SeedParts,
  type Setting,
} from './setting.ts'

/** The warehouse must equal the service after at most this many quiet days. */
const maxQuietDays = 4

/** Share of the days with other commands. They cost as much as the rest of the day, so most days have none. */
const shareOfOtherCommands = { wide: 0.08, narrow: 0.5 }
/** Share of the days after which commands must name the incomplete resources, in a warehouse with all tables. */
const shareOfCommandChecks = 0.5
/** Share of the seeds that repeat the sync at the end, and share of the quiet days that are swept even if nothing differs. */
const shareOfRepeatedSyncs = 0.3
const shareOfSweptQuietDays = 0.2

/** Receives events; nothing to do if there never was one. */
const receiveCommands = ({ service, environment, counts }: Setting): Command[] =>
  service.deliveries.length === 0 && !environment.hasEvents
    ? []
    : [engine => receive(environment, engine, { deliveries: service.deliveries, counts })]

/**
 * Changes records by id minutes after a run, and syncs them. At that time only an event makes Muster read them again, so a lost
 * event shows; the next day's sync would read them anyway.
 */
async function changeAfterRun(setting: Setting): Promise<void> {
  const { scenario, service, environment, clock } = setting
  if (scenario.byId.length === 0) return
  service.stopChanges()
  clock.advance(3 * minuteMs)
  service.changeAfterRun()
  const results = await runAll(setting, [
    ...receiveCommands(setting),
    engine => fetchById(environment, engine, scenario.byId),
  ])
  if (results.length === 2 && results.every(({ code }) => code === 0)) await assertSignals(setting)
}

/** Returns the number of steps whose effect outlives the process. */
async function runDay(setting: Setting, day: number): Promise<number> {
  const { scenario, service, machine, clock, environment, seed, onlyKill, restrictions } = setting
  const rng = namedRng(seed, `night ${day}`)
  const { lists, byId } = scenario
  const commands: Command[] = [
    ...receiveCommands(setting),
    engine => sync(environment, engine, { names: [...lists, ...byId] }),
    ...(rng() < scenario.sweeps
      ? [(engine: Engine) => sweep(environment, engine, { names: [...lists, ...byId] })]
      : []),
  ]
  const drawnKill = rng() < scenario.kills ? machine.drawKill(lists.length) : undefined
  const kill = onlyKill ? onlyKill.day === day && onlyKill.kill : drawnKill
  service.startChanges()
  if (day === scenario.quirksFrom) service.startQuirks()
  await runAll(setting, commands, kill || undefined)
  const durable = machine.durableSteps
  const share = shareOfOtherCommands[restrictions.isWide ? 'wide' : 'narrow']
  if (scenario.hasAllTables && rng() < share && !onlyKill) await runOtherCommands(setting, rng)
  if (scenario.hasAllTables && namedRng(seed, `told ${day}`)() < shareOfCommandChecks && !onlyKill)
    await lawOfCommands(setting)
  if (scenario.hasChangesAfterRun && !onlyKill) await changeAfterRun(setting)
  if (rng() < 0.1) await machine.stop()
  clock.set(firstRunAt + day * dayMs - hourMs * 12)
  return durable
}

const countRowsTouched = ({ resources }: RunResult): number =>
  resources
    .filter(({ resource }) => resource !== 'key')
    .reduce((sum, one) => sum + one.rows_inserted + one.rows_changed + one.rows_removed, 0)

async function findDifferences({ scenario, machine, service }: Setting): Promise<string[]> {
  const engine = await machine.engine()
  const found: string[] = []
  const { lists } = scenario
  for (const list of lists) found.push(...(await differences(engine, service.url, list)))
  for (const name of scenario.byId) found.push(...(await differencesById({ engine, service, name }, lists)))
  return found
}

async function assertSignals(setting: Setting): Promise<void> {
  const { scenario, machine, service, counts } = setting
  const engine = await machine.engine()
  for (const name of scenario.byId) {
    const { checked, excused, faults } = await service.withoutFaults(() =>
      lawOfSignals({ engine, service, name }),
    )
    counts.add(lawCounters.signals, checked)
    counts.add(lawCounters.excused, excused)
    assertLawful(setting, faults)
  }
}

/** Syncs. If differences are left, syncs and sweeps again as an operator who confirms all deletions. Returns the differences. */
async function runQuietDay(setting: Setting, isSwept: boolean): Promise<string[]> {
  const { scenario, environment } = setting
  const { lists, byId } = scenario
  const results = await runAll(setting, [
    ...receiveCommands(setting),
    engine => sync(environment, engine, { names: [...lists, ...byId] }),
    ...(isSwept ? [sweepCommand(setting)] : []),
  ])
  if (results.every(({ code }) => code === 0)) await assertSignals(setting)
  const found = await findDifferences(setting)
  if (found.length === 0 || isSwept) return found
  const confirmedSync: Command = engine =>
    sync(environment, engine, { names: [...lists, ...byId], maxDeletions: moreThanAnyList })
  await runAll(setting, [confirmedSync, sweepCommand(setting)])
  return findDifferences(setting)
}

/** More records than any list has, so that no deletion is refused. */
const moreThanAnyList = 1000

const sweepCommand =
  ({ scenario, environment }: Setting): Command =>
  engine =>
    sweep(environment, engine, {
      names: [...scenario.lists, ...scenario.byId],
      maxDeletions: moreThanAnyList,
    })

/** Quarantined records: a sync reads one of them again per day and list. */
async function countQuarantine({ machine }: Setting): Promise<number> {
  const engine = await machine.engine()
  const [row] = await engine.rows<{ n: unknown }>(
    'select count(*) as n from ops.quarantine where resolved_at is null',
  )
  return Number(row?.n)
}

/** With no changes and no faults, the warehouse must become equal to the service, and then stay unchanged. */
async function runQuietDays(setting: Setting, runCounts: RunCounts): Promise<void> {
  const { scenario, service, clock, environment, log, seed, restrictions, counts } = setting
  const rng = namedRng(seed, 'rest')
  service.stopFaultsAndChanges()
  service.repair()
  let found: string[] = []
  for (let day = 1; day <= maxQuietDays; day += 1) {
    clock.advance(dayMs)
    log(`quiet day ${day}, ${clock.iso}`)
    runCounts.begin()
    found = await runQuietDay(setting, restrictions.isWide || rng() < shareOfSweptQuietDays)
    runCounts.end(false)
    if (found.length === 0) break
    log(`  ${found.length} differences, such as ${found[0]}`)
  }
  assertLawful(setting, found)
  if (rng() > shareOfRepeatedSyncs && !restrictions.isWide) return
  counts.add(lawCounters.repeated)
  const { lists, byId } = scenario
  const waiting = await countQuarantine(setting)
  const [repeated] = await runAll(setting, [
    engine => sync(environment, engine, { names: [...lists, ...byId] }),
  ])
  if (repeated?.code !== 0)
    assertLawful(setting, [`a sync without changes ended with ${repeated?.code}: ${repeated?.message}`])
  const left = waiting - (await countQuarantine(setting))
  const touched = repeated?.outcome ? countRowsTouched(repeated.outcome) : 0
  if (touched > left) assertLawful(setting, [`a sync without changes touched ${touched} rows`])
}

/** Returns the number of durable steps of each day. */
async function runDays(setting: Setting): Promise<number[]> {
  const { scenario, service, clock, log, onlyKill } = setting
  const runCounts = new RunCounts(setting)
  const durable: number[] = []
  log(`scenario ${JSON.stringify(scenario)}`)
  for (let day = 1; day <= (onlyKill?.day ?? scenario.days); day += 1) {
    service.changeBetweenDays()
    log(`day ${day}, ${clock.iso}`)
    runCounts.begin()
    durable.push(await runDay(setting, day))
    runCounts.end(day >= scenario.quirksFrom)
  }
  await runQuietDays(setting, runCounts)
  return durable
}

/** Throws `BrokenLaw` if a law does not hold. Returns the number of durable steps of each day before the quiet ones. */
export async function runSeed(parts: SeedParts): Promise<readonly number[]> {
  const setting = await openSetting(parts)
  const { service, machine, disk } = setting
  try {
    return await runDays(setting)
  } finally {
    await machine.crash()
    await service.close()
    await disk.remove()
  }
}
