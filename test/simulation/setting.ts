/** Opens everything that a seed needs, runs its processes, and checks the laws after each. */
import type { Engine } from '../../src/warehouse/engine.ts'
import { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import type { CommandResult, RunEnvironment } from './dag-run.ts'
import {
  lawCounters,
  lawOfExit0,
  lawOfRequests,
  lawOfTombstones,
  lawOfWatermark,
  outdatedRecords,
  readSituation,
} from './laws.ts'
import { Machine } from './machine.ts'
import type { OnlyKill } from './options.ts'
import { resourceOf } from './oracle.ts'
import type { Kill, Step } from './process.ts'
import {
  hasStarted,
  isReportedAsRefused,
  type ListReview,
  lawOfQuarantine,
  lawOfReporting,
  lawOfSweeps,
  leftBySweep,
  quarantinedBySync,
  readReport,
} from './reporting.ts'
import { drawScenario, type ListName, type Restrictions, type Scenario } from './scenario.ts'
import { Service } from './service.ts'
import { findTreatedValues } from './stored-fields.ts'
import type { Disk, Disks } from './warehouses.ts'

/** Two in the morning of the first day after the generated data. */
export const firstRunAt = Date.parse('2026-11-02T02:00:00.000Z')

export interface SeedParts {
  readonly seed: number
  readonly engine: Engine['kind']
  readonly disks: Disks
  readonly counts: Counts
  /** Prints a line about what happened. */
  readonly log: (line: string) => void
  /** Whether each step is printed as well. */
  readonly isVerbose: boolean
  readonly restrictions: Restrictions
  /** Replaces the kills that the seed draws. Its day is the last one before the quiet days. */
  readonly onlyKill?: OnlyKill | undefined
}

export interface Setting extends SeedParts {
  readonly scenario: Scenario
  readonly clock: SimulatedClock
  readonly disk: Disk
  readonly service: Service
  readonly machine: Machine
  readonly environment: RunEnvironment
  /** When a process was last killed, in milliseconds; 0 if never. */
  killedAt: number
  /** Lists of which a process that was not killed received a page. */
  readonly shown: Set<ListName>
}

export type Command = (engine: Engine) => Promise<CommandResult | undefined>

export async function openSetting(parts: SeedParts): Promise<Setting> {
  const { seed, engine, disks, counts, isVerbose, log, restrictions } = parts
  const scenario = drawScenario(seed, engine, restrictions)
  const clock = new SimulatedClock(firstRunAt)
  const only = scenario.hasAllTables ? undefined : [...scenario.lists, ...scenario.byId]
  const disk = await disks.make({ only })
  const service = await Service.open({ seed, scenario, clock, counts })
  const onStep = ({ kind, what }: Step): void => log(`    ${clock.iso} ${kind} ${what}`)
  const machine = new Machine({ seed, clock, disk, counts, ...(isVerbose && { onStep }) })
  const environment = {
    seed,
    clock,
    disk,
    url: service.url,
    runs: 0,
    hasEvents: false,
    fields: scenario.fields,
    clockShifts: restrictions.clockShifts,
  }
  return { ...parts, scenario, clock, disk, service, machine, environment, killedAt: 0, shown: new Set() }
}

/** Throws if a law is broken; `broken` describes each violation. */
export function assertLawful({ seed, log }: Setting, broken: readonly string[]): void {
  if (broken.length === 0) return
  for (const line of broken.slice(0, 10)) log(`  BROKEN: ${line}`)
  throw new BrokenLaw(
    `seed ${seed}: ${broken[0]}${broken.length > 1 ? `, and ${broken.length - 1} more` : ''}`,
  )
}

/** Thrown when a law does not hold. `seeds.ts` recognizes it by its name. */
class BrokenLaw extends Error {
  override readonly name = 'BrokenLaw'
}

interface ProcessResult {
  /** When the process started, in milliseconds. */
  readonly since: number
  readonly results: readonly CommandResult[]
  readonly wasKilled: boolean
}

function countLaws({ counts }: Setting, review: ListReview): void {
  const { situation, results, mayHide } = review
  const { stored, excused } = situation
  const outdatedCount = outdatedRecords(situation).size
  const isComplete = results.some(({ command, code }) => command === 'sync' && code === 0)
  counts.add(lawCounters.complete, isComplete && !mayHide ? 1 : 0)
  counts.add(lawCounters.rows, stored.size)
  counts.add(lawCounters.tombstones, [...stored.values()].filter(row => row.is_deleted).length)
  counts.add(lawCounters.excused, excused.size)
  counts.add(lawCounters.leftOut, quarantinedBySync(review) > 0 ? 1 : 0)
  counts.add(lawCounters.mustBeReported, outdatedCount > 0 && !isComplete ? 1 : 0)
  counts.add(lawCounters.refused, outdatedCount > 0 && isReportedAsRefused(review) ? 1 : 0)
  counts.add(lawCounters.hidden, outdatedCount > 0 && mayHide ? 1 : 0)
  counts.add(lawCounters.candidates, leftBySweep(review).length)
}

async function reviewList(
  setting: Setting,
  list: ListName,
  { since, results, wasKilled }: ProcessResult,
): Promise<ListReview> {
  const { service, machine, shown } = setting
  const engine = await machine.engine()
  const situation = await readSituation({ engine, service, list, since })
  const report = await readReport(engine, resourceOf(list))
  const isHiddenCountSufficient = outdatedRecords(situation).size <= (report.state.hiddenRows ?? 0)
  return {
    ...{ situation, results, wasKilled, wasEverKilled: setting.killedAt > 0, report },
    hasStarted: await hasStarted(engine, since),
    mayHide: service.mayHide || (service.maySeemHidden && isHiddenCountSufficient),
    wasShown: shown.has(list),
  }
}

async function assertListLaws(setting: Setting, list: ListName, processResult: ProcessResult): Promise<void> {
  const review = await reviewList(setting, list, processResult)
  const { situation, results, mayHide } = review
  countLaws(setting, review)
  assertLawful(setting, lawOfTombstones(situation))
  assertLawful(setting, lawOfReporting(review))
  assertLawful(setting, lawOfSweeps(review))
  assertLawful(setting, lawOfQuarantine(review))
  if (mayHide) return
  if (!isReportedAsRefused(review))
    for (const one of results) assertLawful(setting, lawOfExit0(situation, one))
  assertLawful(setting, await lawOfWatermark(situation))
}

/** Whether recorded requests may be missing or misdated: a process was killed within the last minute, or the clock was set. */
export const mayMissRequests = ({ killedAt, restrictions }: Setting, since: number): boolean =>
  killedAt > since - 62_000 || new Set(restrictions.clockShifts).size > 1

async function assertLaws(setting: Setting, processResult: ProcessResult): Promise<void> {
  const { scenario, service, machine } = setting
  const { since } = processResult
  for (const list of scenario.lists) await assertListLaws(setting, list, processResult)
  const engine = await machine.engine()
  for (const list of scenario.byId)
    assertLawful(setting, lawOfTombstones(await readSituation({ engine, service, list, since })))
  assertLawful(setting, lawOfRequests(service, mayMissRequests(setting, since)))
  const { checked, faults } = findTreatedValues(setting)
  setting.counts.add(lawCounters.fields, checked)
  assertLawful(setting, faults)
}

export function logResult({ log, counts }: Setting, { command, code, message }: CommandResult): void {
  counts.add(`exit ${code} of ${command.split(' ')[0]}`)
  log(`  ${command}: ${code}${message ? `, ${message}` : ''}`)
}

/** Runs the commands in turn, in one process. After a kill, the rest is left for the next day. */
export async function runAll(
  setting: Setting,
  commands: readonly Command[],
  kill?: Kill,
): Promise<CommandResult[]> {
  const { machine, clock, log, service, scenario, shown } = setting
  const since = clock.now()
  const before = service.requests.length
  const results: CommandResult[] = []
  const done = await machine.run(async engine => {
    for (const command of commands) {
      const result = await command(engine)
      if (!result) continue
      logResult(setting, result)
      results.push(result)
    }
  }, kill)
  if (!done) {
    setting.killedAt = clock.now()
    log('  killed')
  } else for (const list of scenario.lists) if (service.hasShown(list, before)) shown.add(list)
  await assertLaws(setting, { since, results, wasKilled: !done })
  return results
}
