/** A disk that fills up under a sync: it says so, and with room again the rows are there. */
import { rmSync } from 'node:fs'
import { canMount, SmallDisk } from '../../support/small-disk.ts'
import type { Trial } from '../trial.ts'

/** A first load of the arena takes some megabytes; a file that just fits leaves no room for its log. */
const sizes = { least: 2_000, spread: 24_000, enough: 400_000 }

/** DuckDB itself ends the process when it can write neither the log nor take the rows back; the reserve keeps runs from that. */
const isAbortOfEngine = ({ code, err }: { code: number; err: string }): boolean =>
  code === 134 && err.includes('FatalException')

/** Only of a file: the disk of a server is its own. */
export const fullDisks: Trial = async (arena, rng) => {
  if (arena.engine === 'postgres' || !canMount()) return { blows: 0, broken: [] }
  const place = await arena.empty()
  const disk = new SmallDisk(sizes.least + Math.floor(rng() * sizes.spread), place.env)
  const broken: string[] = []
  try {
    const first = await disk.muster('sync --quiet')
    const says = `sync on a small disk: ${first.code}: ${first.err.trim().slice(0, 300)}`
    const isOrderly = [0, 1, 75].includes(first.code) || isAbortOfEngine(first)
    if (!isOrderly || /unexpected/.test(first.err)) broken.push(says)
    if (first.code === 1 && !/full|space|room/.test(first.err)) broken.push(says)
    await disk.resize(sizes.enough)
    const second = await disk.muster('sync --quiet')
    if (second.code !== 0) broken.push(`with room again: ${second.code}: ${second.err.trim().slice(0, 300)}`)
    const check = await disk.muster('check resources_complete keys_unique')
    if (check.code !== 0) broken.push(`with room again: ${check.out.trim().slice(0, 300)}`)
  } finally {
    await disk.close()
    rmSync(place.folder, { recursive: true, force: true })
  }
  return { blows: 1, broken }
}
