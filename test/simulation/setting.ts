/** What a seed runs in, and the laws that are asked after each of its processes. */
import type { Engine } from '../../src/warehouse/engine.ts'
import { type Climate, climateOf, mayHide, type Narrowed } from './climate.ts'
import { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import {
  askedLaws,
  lawOfExit0,
  lawOfRequests,
  lawOfTombstones,
  lawOfWatermark,
  type Situation,
  situationOf,
} from './laws.ts'
import { Machine } from './machine.ts'
import type { Ended, Place } from './night.ts'
import type { OnlyKill } from './options.ts'
import type { Kill, Step } from './process.ts'
import { Service } from './service.ts'
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
  const place = { seed, clock, disk, url: service.url, runs: 0, hasEvents: false }
  return { ...parts, climate, clock, disk, service, machine, place, killedAt: 0 }
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

function countLaws({ counts }: Setting, { stored, excused }: Situation, ended: readonly Ended[]): void {
  const isWhole = ended.some(({ command, code }) => command === 'sync' && code === 0)
  counts.add(askedLaws.whole, isWhole ? 1 : 0)
  counts.add(askedLaws.rows, stored.size)
  counts.add(askedLaws.tombstones, [...stored.values()].filter(row => row.is_deleted).length)
  counts.add(askedLaws.excused, excused.size)
}

async function requireLaws(setting: Setting, since: number, ended: readonly Ended[]): Promise<void> {
  const { climate, service, machine } = setting
  const engine = await machine.engine()
  for (const list of climate.lists) {
    const situation = await situationOf({ engine, service, list, since })
    require(setting, lawOfTombstones(situation))
    if (mayHide(climate)) continue
    countLaws(setting, situation, ended)
    for (const one of ended) require(setting, lawOfExit0(situation, one))
    require(setting, await lawOfWatermark(situation))
  }
  for (const list of climate.byId)
    require(setting, lawOfTombstones(await situationOf({ engine, service, list, since })))
  require(setting, lawOfRequests(service, setting.killedAt > since - 62_000))
}

export function tellEnd({ tell, counts }: Setting, { command, code, message }: Ended): void {
  counts.add(`exit ${code} of ${command.split(' ')[0]}`)
  tell(`  ${command}: ${code}${message ? `, ${message}` : ''}`)
}

/** The commands in turn; what a kill leaves undone is for the next night. */
export async function runAll(setting: Setting, commands: readonly Command[], kill?: Kill): Promise<Ended[]> {
  const { machine, clock, tell } = setting
  const since = clock.now()
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
  }
  await requireLaws(setting, since, ended)
  return ended
}
