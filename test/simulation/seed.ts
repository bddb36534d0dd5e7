/** One seed: nights of a service that changes, fails and lies while the process is killed; then rest, and the verdict. */
import { dayMs, hourMs } from '../../src/lib/dates.ts'
import { namedRng } from '../../src/lib/rng.ts'
import type { RunOutcome } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { differencesById, lawOfSignals } from './by-id.ts'
import { receive, sweep, sync } from './night.ts'
import { NightCounts } from './night-counts.ts'
import { differences } from './oracle.ts'
import { others } from './others.ts'
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
const mostQuietNights = 4

/** The other commands of a night cost as much as all before, so most nights have none of them. */
const shareOfOthers = 0.08

/** Returns how many steps of its sync left something behind. */
async function stormyNight(setting: Setting, night: number): Promise<number> {
  const { climate, service, machine, clock, place, seed, counts, onlyKill } = setting
  const rng = namedRng(seed, `night ${night}`)
  const { lists, byId } = climate
  const commands: Command[] = [
    engine => receive(place, engine, { deliveries: service.told, counts }),
    engine => sync(place, engine, [...lists, ...byId]),
    ...(rng() < climate.sweeps
      ? [(engine: Engine) => sweep(place, engine, { names: [...lists, ...byId] })]
      : []),
  ]
  const drawn = rng() < climate.kills ? machine.drawnKill(lists.length) : undefined
  const kill = onlyKill ? onlyKill.night === night && onlyKill.kill : drawn
  service.storm()
  if (night === climate.lyingFrom) service.lie()
  await runAll(setting, commands, kill || undefined)
  const lasting = machine.lastingSteps
  if (rng() < shareOfOthers && !onlyKill) await others(setting, rng)
  if (rng() < 0.1) await machine.stop()
  clock.set(firstNight + night * dayMs - hourMs * 12)
  return lasting
}

const rowsTouched = ({ resources }: RunOutcome): number =>
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
  const { climate, machine, service } = setting
  const engine = await machine.engine()
  for (const name of climate.byId) require(setting, await lawOfSignals({ engine, service, name }))
}

/** Nothing changes any more, and every answer is right: the warehouse must come to hold the source, and stay as it is. */
async function rest(setting: Setting, counted: NightCounts): Promise<void> {
  const { climate, service, clock, place, tell, counts } = setting
  const { lists, byId } = climate
  service.calm()
  service.mend()
  let found: string[] = []
  for (let night = 1; night <= mostQuietNights; night += 1) {
    clock.advance(dayMs)
    tell(`quiet night ${night}, ${clock.iso}`)
    counted.begin()
    const ended = await runAll(setting, [
      engine => receive(place, engine, { deliveries: service.told, counts }),
      engine => sync(place, engine, [...lists, ...byId]),
      engine => sweep(place, engine, { names: [...lists, ...byId], most: 1000 }),
    ])
    counted.end(false)
    if (ended.every(({ code }) => code === 0)) await requireSignals(setting)
    found = await differing(setting)
    if (found.length === 0) break
    tell(`  ${found.length} differences, such as ${found[0]}`)
  }
  require(setting, found)
  const [again] = await runAll(setting, [engine => sync(place, engine, [...lists, ...byId])])
  if (again?.code !== 0) require(setting, [`at rest a sync ended with ${again?.code}: ${again?.message}`])
  const touched = again?.outcome ? rowsTouched(again.outcome) : 0
  if (touched > 0) require(setting, [`a sync with nothing new touched ${touched} rows`])
}

/** Returns the steps of each night that left something behind. */
async function live(setting: Setting): Promise<number[]> {
  const { climate, service, clock, tell, onlyKill } = setting
  const counted = new NightCounts(setting)
  const lasting: number[] = []
  tell(`climate ${JSON.stringify(climate)}`)
  for (let night = 1; night <= (onlyKill?.night ?? climate.nights); night += 1) {
    service.day()
    tell(`night ${night}, ${clock.iso}`)
    counted.begin()
    lasting.push(await stormyNight(setting, night))
    counted.end(night >= climate.lyingFrom)
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
