/** One seed: nights of a service that changes, fails and lies while the process is killed; then rest, and the verdict. */
import { dayMs, hourMs } from '../../src/lib/dates.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import { readMarts } from '../../src/marts/mart.ts'
import type { RunOutcome } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type Climate, climateOf, mayHide, type Narrowed } from './climate.ts'
import { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import { lawOfExit0, lawOfRequests, lawOfTombstones, lawOfWatermark } from './laws.ts'
import { Machine } from './machine.ts'
import { type Ended, type Place, program, receive, sweep, sync } from './night.ts'
import { differences } from './oracle.ts'
import type { Kill, Step } from './process.ts'
import { lawOfPublished, type TableRows } from './published.ts'
import { Service } from './service.ts'
import type { Disk, Disks } from './warehouses.ts'

/** Two in the morning of the first day after the generated data. */
const firstNight = Date.parse('2026-11-02T02:00:00.000Z')

/** Quiet nights within which the warehouse must hold the source. */
const mostQuietNights = 4

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
}

interface Setting extends SeedParts {
  readonly climate: Climate
  readonly clock: SimulatedClock
  readonly disk: Disk
  readonly service: Service
  readonly machine: Machine
  readonly place: Place
  /** When a process was killed last, in milliseconds. */
  killedAt: number
}

type Command = (engine: Engine) => Promise<Ended | undefined>

async function openSetting(parts: SeedParts): Promise<Setting> {
  const { seed, engine, disks, counts, isVerbose, tell, narrowed } = parts
  const climate = climateOf(seed, engine, narrowed)
  const clock = new SimulatedClock(firstNight)
  const disk = await disks.make()
  const service = await Service.open({ seed, climate, clock, counts })
  const onStep = ({ kind, what }: Step): void => tell(`    ${clock.iso} ${kind} ${what}`)
  const machine = new Machine({ seed, clock, disk, counts, ...(isVerbose && { onStep }) })
  const place = { seed, clock, disk, url: service.url, runs: 0 }
  return { ...parts, climate, clock, disk, service, machine, place, killedAt: 0 }
}

/** Throws for a law that is broken. */
function require({ seed, tell }: Setting, broken: readonly string[]): void {
  if (broken.length === 0) return
  for (const line of broken.slice(0, 10)) tell(`  BROKEN: ${line}`)
  throw new Broken(`seed ${seed}: ${broken[0]}${broken.length > 1 ? `, and ${broken.length - 1} more` : ''}`)
}

/** A law does not hold: what the simulation is there to find. */
class Broken extends Error {
  override readonly name = 'Broken'
}

async function requireLaws(setting: Setting, since: number, ended: readonly Ended[]): Promise<void> {
  const { climate, service, machine } = setting
  const engine = await machine.engine()
  for (const list of climate.lists) {
    const situation = { engine, service, list, since }
    require(setting, await lawOfTombstones(situation))
    if (mayHide(climate)) continue
    for (const one of ended) require(setting, await lawOfExit0(situation, one))
    require(setting, await lawOfWatermark(situation))
  }
  require(setting, lawOfRequests(service, setting.killedAt > since - 62_000))
}

function tellEnd({ tell, counts }: Setting, { command, code, message }: Ended): void {
  counts.add(`exit ${code} of ${command.split(' ')[0]}`)
  tell(`  ${command}: ${code}${message ? `, ${message}` : ''}`)
}

/** The commands in turn; what a kill leaves undone is for the next night. */
async function runAll(setting: Setting, commands: readonly Command[], kill?: Kill): Promise<Ended[]> {
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

async function stormyNight(setting: Setting, night: number): Promise<void> {
  const { climate, service, machine, clock, place, seed, counts } = setting
  const rng = namedRng(seed, `night ${night}`)
  const { lists } = climate
  const bodies = service.told.splice(0).map(({ body }) => body)
  const commands: Command[] = [
    engine => receive(place, engine, bodies),
    engine => sync(place, engine, lists),
    ...(rng() < climate.sweeps ? [(engine: Engine) => sweep(place, engine, { lists })] : []),
  ]
  const kill = rng() < climate.kills ? machine.drawnKill(lists.length) : undefined
  service.storm()
  if (night === climate.lyingFrom) service.lie()
  counts.beginNight()
  await runAll(setting, commands, kill)
  if (rng() < shareOfOthers) await others(setting, rng)
  if (rng() < 0.1) await machine.stop()
  clock.set(firstNight + night * dayMs - hourMs * 12)
}

/** The other commands of a night cost as much as all before, so most nights have none of them. */
const shareOfOthers = 0.08

/** Two marts, since all of them take ten times as long as a sync of two lists. */
function otherCommands(rng: Rng): string[] {
  const names = readMarts().map(({ name }) => name)
  const drawn = [names[Math.floor(rng() * names.length)], names[Math.floor(rng() * names.length)]]
  const all = [`build ${drawn.join(' ')}`, 'check', 'publish', 'crosscheck']
  return all.filter(() => rng() < 0.5).map(line => `${line} --json`)
}

async function others(setting: Setting, rng: Rng): Promise<void> {
  const { machine, place, service, climate, counts } = setting
  for (const line of otherCommands(rng)) {
    await machine.stop()
    const kill = rng() < climate.kills / 2 ? machine.drawnKill(2) : undefined
    const since = setting.clock.now()
    counts.add(`command ${line.split(' ')[0]}`)
    const done = await machine.runAlone(() => program(place, line), kill)
    if (!done) {
      setting.killedAt = setting.clock.now()
      setting.tell('  killed')
      continue
    }
    tellEnd(setting, done.result)
    require(setting, lawOfRequests(service, setting.killedAt > since - 62_000))
    const { code, message, printed = '' } = done.result
    if (message.includes('unexpected')) require(setting, [`${line} ended with ${code}: ${message}`])
    if (!line.startsWith('publish') || code !== 0 || climate.engine !== 'duckdb') continue
    const { file, tables } = JSON.parse(printed) as { file: string; tables: TableRows[] }
    require(setting, await lawOfPublished(file, service, tables))
  }
}

const rowsTouched = ({ resources }: RunOutcome): number =>
  resources
    .filter(({ resource }) => resource !== 'key')
    .reduce((sum, one) => sum + one.rows_inserted + one.rows_changed + one.rows_removed, 0)

async function differing({ climate, machine, service }: Setting): Promise<string[]> {
  const engine = await machine.engine()
  const found: string[] = []
  for (const list of climate.lists) found.push(...(await differences(engine, service.url, list)))
  return found
}

/** Nothing changes any more, and every answer is right: the warehouse must come to hold the source, and stay as it is. */
async function rest(setting: Setting): Promise<void> {
  const { climate, service, clock, place, tell, counts } = setting
  const { lists } = climate
  service.calm()
  service.mend()
  let found: string[] = []
  for (let night = 1; night <= mostQuietNights; night += 1) {
    clock.advance(dayMs)
    tell(`quiet night ${night}, ${clock.iso}`)
    counts.beginNight()
    await runAll(setting, [
      engine => sync(place, engine, lists),
      engine => sweep(place, engine, { lists, most: 1000 }),
    ])
    found = await differing(setting)
    if (found.length === 0) break
    tell(`  ${found.length} differences, such as ${found[0]}`)
  }
  require(setting, found)
  const [again] = await runAll(setting, [engine => sync(place, engine, lists)])
  if (again?.code !== 0) require(setting, [`at rest a sync ended with ${again?.code}: ${again?.message}`])
  const touched = again?.outcome ? rowsTouched(again.outcome) : 0
  if (touched > 0) require(setting, [`a sync with nothing new touched ${touched} rows`])
}

async function live(setting: Setting): Promise<void> {
  const { climate, service, clock, tell } = setting
  tell(`climate ${JSON.stringify(climate)}`)
  for (let night = 1; night <= climate.nights; night += 1) {
    service.day()
    tell(`night ${night}, ${clock.iso}`)
    await stormyNight(setting, night)
  }
  await rest(setting)
}

/** Throws Broken for a law that does not hold. */
export async function runSeed(parts: SeedParts): Promise<void> {
  const setting = await openSetting(parts)
  const { counts, climate, service, machine, disk } = setting
  try {
    await live(setting)
  } finally {
    for (const { fault } of service.requests) if (fault) counts.add(`fault ${fault}`)
    counts.add('requests', service.requests.length)
    for (const [lie, value] of Object.entries(climate.lies)) counts.add(`lie ${lie}=${value}`)
    for (const [option, value] of Object.entries(climate.options)) counts.add(`option ${option}=${value}`)
    await machine.crash()
    await service.close()
    await disk.remove()
  }
}
