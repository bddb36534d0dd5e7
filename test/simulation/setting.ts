/** What a seed runs in, and the laws that are asked after each of its processes. */
import type { Engine } from '../../src/warehouse/engine.ts'
import { type Climate, climateOf, type ListName, type Narrowed } from './climate.ts'
import { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import type { Ended, Place } from './dag-run.ts'
import {
  askedLaws,
  behind,
  lawOfExit0,
  lawOfRequests,
  lawOfTombstones,
  lawOfWatermark,
  situationOf,
} from './laws.ts'
import { Machine } from './machine.ts'
import {
  hasBegun,
  isToldAsRefused,
  type Judged,
  lawOfNaming,
  lawOfQuarantine,
  lawOfSweeps,
  leftBySweep,
  leftOutBySync,
  saidOf,
} from './naming.ts'
import type { OnlyKill } from './options.ts'
import { resourceOf } from './oracle.ts'
import type { Kill, Step } from './process.ts'
import { Service } from './service.ts'
import { storedFields } from './stored-fields.ts'
import type { Disk, Disks } from './warehouses.ts'

/** Two in the morning of the first day after the generated data. */
export const firstNight = Date.parse('2026-11-02T02:00:00.000Z')

export interface SeedParts {
  readonly seed: number
  readonly engine: Engine['kind']
  readonly disks: Disks
  readonly counts: Counts
  /** Every line of what happened. */
  readonly tell: (line: string) => void
  /** Whether each step is told as well. */
  readonly isVerbose: boolean
  readonly narrowed: Narrowed
  /** In place of the kills that the seed draws; the night is the last one before it comes to rest. */
  readonly onlyKill?: OnlyKill | undefined
}

export interface Setting extends SeedParts {
  readonly climate: Climate
  readonly clock: SimulatedClock
  readonly disk: Disk
  readonly service: Service
  readonly machine: Machine
  readonly place: Place
  /** When a process was killed last, in milliseconds. */
  killedAt: number
  /** Lists that a process which was not killed was shown a page of. */
  readonly shown: Set<ListName>
}

export type Command = (engine: Engine) => Promise<Ended | undefined>

export async function openSetting(parts: SeedParts): Promise<Setting> {
  const { seed, engine, disks, counts, isVerbose, tell, narrowed } = parts
  const climate = climateOf(seed, engine, narrowed)
  const clock = new SimulatedClock(firstNight)
  const only = climate.isWhole ? undefined : [...climate.lists, ...climate.byId]
  const disk = await disks.make({ only })
  const service = await Service.open({ seed, climate, clock, counts })
  const onStep = ({ kind, what }: Step): void => tell(`    ${clock.iso} ${kind} ${what}`)
  const machine = new Machine({ seed, clock, disk, counts, ...(isVerbose && { onStep }) })
  const place = {
    seed,
    clock,
    disk,
    url: service.url,
    runs: 0,
    hasEvents: false,
    fields: climate.fields,
    clockShifts: narrowed.clockShifts,
  }
  return { ...parts, climate, clock, disk, service, machine, place, killedAt: 0, shown: new Set() }
}

/** Throws for a law that is broken. */
export function require({ seed, tell }: Setting, broken: readonly string[]): void {
  if (broken.length === 0) return
  for (const line of broken.slice(0, 10)) tell(`  BROKEN: ${line}`)
  throw new Broken(`seed ${seed}: ${broken[0]}${broken.length > 1 ? `, and ${broken.length - 1} more` : ''}`)
}

/** A law does not hold: what the simulation is there to find. */
class Broken extends Error {
  override readonly name = 'Broken'
}

interface Over {
  /** In milliseconds. */
  readonly since: number
  readonly ended: readonly Ended[]
  readonly wasKilled: boolean
}

function countLaws({ counts }: Setting, judged: Judged): void {
  const { situation, ended, mayHide } = judged
  const { stored, excused } = situation
  const missing = behind(situation).size
  const isWhole = ended.some(({ command, code }) => command === 'sync' && code === 0)
  counts.add(askedLaws.whole, isWhole && !mayHide ? 1 : 0)
  counts.add(askedLaws.rows, stored.size)
  counts.add(askedLaws.tombstones, [...stored.values()].filter(row => row.is_deleted).length)
  counts.add(askedLaws.excused, excused.size)
  counts.add(askedLaws.leftOut, leftOutBySync(judged) > 0 ? 1 : 0)
  counts.add(askedLaws.named, missing > 0 && !isWhole ? 1 : 0)
  counts.add(askedLaws.refused, missing > 0 && isToldAsRefused(judged) ? 1 : 0)
  counts.add(askedLaws.hidden, missing > 0 && mayHide ? 1 : 0)
  counts.add(askedLaws.candidates, leftBySweep(judged).length)
}

async function judgedOf(
  setting: Setting,
  list: ListName,
  { since, ended, wasKilled }: Over,
): Promise<Judged> {
  const { service, machine, shown } = setting
  const engine = await machine.engine()
  const situation = await situationOf({ engine, service, list, since })
  const said = await saidOf(engine, resourceOf(list))
  const isToldInNumber = behind(situation).size <= (said.state.hiddenRows ?? 0)
  return {
    ...{ situation, ended, wasKilled, wasEverKilled: setting.killedAt > 0, said },
    hasBegun: await hasBegun(engine, since),
    mayHide: service.mayHide || (service.maySeemHidden && isToldInNumber),
    wasShown: shown.has(list),
  }
}

async function requireOfList(setting: Setting, list: ListName, over: Over): Promise<void> {
  const judged = await judgedOf(setting, list, over)
  const { situation, ended, mayHide } = judged
  countLaws(setting, judged)
  require(setting, lawOfTombstones(situation))
  require(setting, lawOfNaming(judged))
  require(setting, lawOfSweeps(judged))
  require(setting, lawOfQuarantine(judged))
  if (mayHide) return
  if (!isToldAsRefused(judged)) for (const one of ended) require(setting, lawOfExit0(situation, one))
  require(setting, await lawOfWatermark(situation))
}

/** Whether requests may not be on record for the process after: it was killed, or the clock that dated them was set. */
export const mayForget = ({ killedAt, narrowed }: Setting, since: number): boolean =>
  killedAt > since - 62_000 || new Set(narrowed.clockShifts).size > 1

async function requireLaws(setting: Setting, over: Over): Promise<void> {
  const { climate, service, machine } = setting
  const { since } = over
  for (const list of climate.lists) await requireOfList(setting, list, over)
  const engine = await machine.engine()
  for (const list of climate.byId)
    require(setting, lawOfTombstones(await situationOf({ engine, service, list, since })))
  require(setting, lawOfRequests(service, mayForget(setting, since)))
  const { asked, faults } = storedFields(setting)
  setting.counts.add(askedLaws.fields, asked)
  require(setting, faults)
}

export function tellEnd({ tell, counts }: Setting, { command, code, message }: Ended): void {
  counts.add(`exit ${code} of ${command.split(' ')[0]}`)
  tell(`  ${command}: ${code}${message ? `, ${message}` : ''}`)
}

/** The commands in turn; what a kill leaves undone is for the next night. */
export async function runAll(setting: Setting, commands: readonly Command[], kill?: Kill): Promise<Ended[]> {
  const { machine, clock, tell, service, climate, shown } = setting
  const since = clock.now()
  const before = service.requests.length
  const ended: Ended[] = []
  const done = await machine.run(async engine => {
    for (const command of commands) {
      const end = await command(engine)
      if (!end) continue
      tellEnd(setting, end)
      ended.push(end)
    }
  }, kill)
  if (!done) {
    setting.killedAt = clock.now()
    tell('  killed')
  } else for (const list of climate.lists) if (service.showed(list, before)) shown.add(list)
  await requireLaws(setting, { since, ended, wasKilled: !done })
  return ended
}
