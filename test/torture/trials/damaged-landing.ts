/** A landed file that is cut, emptied, garbled, swapped or gone: a replay names it, or gives the rows that were there. */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Rng } from '../../../src/lib/rng.ts'
import { complaint } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

type Damage = (file: string, rng: Rng) => void

const damages: Readonly<Record<string, Damage>> = {
  cut: (file, rng) => truncateSync(file, Math.floor(rng() * statSync(file).size)),
  emptied: file => truncateSync(file, 0),
  gone: file => rmSync(file),
  garbage: (file, rng) => writeFileSync(file, Buffer.from(Array.from({ length: 500 }, () => rng() * 256))),
  flipped(file, rng) {
    const bytes = readFileSync(file)
    const at = Math.floor(rng() * bytes.length)
    if (bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(rng() * 8))
    writeFileSync(file, bytes)
  },
  'other JSON': file => writeFileSync(file, '[{"a":null}]'),
}

export const damagedLanding: Trial = async (arena, rng) => {
  const place = await arena.fresh()
  const before = JSON.stringify(await arena.dump(place))
  const files = readdirSync(place.landing, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  const file = drawn(rng, files)
  const [name, damage] = drawn(rng, Object.entries(damages))
  damage(file, rng)
  const shown = file.slice(place.landing.length + 1)
  const end = await arena.run(place, 'replay --quiet')
  const isNamed = shown.split('/').some(part => (end.err + end.out).includes(part.replace(/\.json$/, '')))
  const broken: (string | undefined)[] = [complaint(end, [0, 3])]
  if (end.code === 3 && !isNamed) broken.push(`not named: ${end.err.trim().slice(0, 300)}`)
  if (end.code === 0 && JSON.stringify(await arena.dump(place)) !== before)
    broken.push('exit 0 with other rows')
  broken.push(await arena.complaintAtRest(place, { history: end.code === 0 }))
  await arena.remove(place)
  return { blows: 1, broken: defined(broken).map(text => `${shown} ${name}: ${text}`) }
}
