/** The commands of some nights besides sync and sweep: build, check, publish and crosscheck, as the command line runs them. */
import type { Rng } from '../../src/lib/rng.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { program } from './dag-run.ts'
import { askedLaws, lawOfRequests } from './laws.ts'
import { lawOfPublished, type TableRows } from './published.ts'
import { mayForget, require, type Setting, tellEnd } from './setting.ts'

/** Two marts, since all of them take ten times as long as a sync of two lists. */
function otherCommands(rng: Rng): string[] {
  const names = readMarts().map(({ name }) => name)
  const drawn = [names[Math.floor(rng() * names.length)], names[Math.floor(rng() * names.length)]]
  const all = [`build ${drawn.join(' ')}`, 'check', 'publish', 'crosscheck']
  return all.filter(() => rng() < 0.5).map(line => `${line} --json`)
}

export async function others(setting: Setting, rng: Rng): Promise<void> {
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
    require(setting, lawOfRequests(service, mayForget(setting, since)))
    const { code, message, printed = '' } = done.result
    if (message.includes('unexpected')) require(setting, [`${line} ended with ${code}: ${message}`])
    if (!line.startsWith('publish') || code !== 0 || climate.engine !== 'duckdb') continue
    const { file, tables } = JSON.parse(printed) as { file: string; tables: TableRows[] }
    counts.add(askedLaws.published, tables.length)
    require(setting, await lawOfPublished(file, service, tables))
  }
}
