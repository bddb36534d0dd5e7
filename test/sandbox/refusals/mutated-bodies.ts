/** Bodies of writes that were right before one to three things in them were changed: drawn by seed. */
import type { Rng } from '../../../src/lib/rng.ts'
import type { Body } from '../open-sandbox.ts'
import { document, pdf, person, png } from '../writes/worker-inputs.ts'

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)] as Item

/** What may stand anywhere instead. */
const strangers: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 20_971_521, '', ' ', 'null', '\u0000', '\ud83d', '🙂\u202e'],
  ...['x'.repeat(300), 'x'.repeat(200_000), '2026-02-30', '9999-12-31', '0001-01-01', '../../etc/passwd'],
  ...['data:application/pdf;base64,', 'data:application/pdf;base64,@@@@', 'data:text/html;base64,PGI+'],
  ...['data:image/png;base64,JVBERi0xLjQK', 'upload-token', 'a.exe', '.pdf', 'AB123456C', 'no@', '+44'],
  ...[[], {}, [null], [[]], [{}], { a: { b: { c: [] } } }, [1, 2, 3], { toString: 1 }, { length: 5 }],
]

const keysToAdd = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  'agency',
  'uploadToken',
  'content',
  '',
  '$ne',
]

type Node = Record<string, unknown>

/** Every object and array of the body, the body itself among them. */
function nodesOf(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Node, ...Object.values(value).flatMap(nodesOf)]
}

function mutate(rng: Rng, body: Body): void {
  const node = pick(rng, nodesOf(body))
  const names = Object.keys(node)
  const name = names.length > 0 ? pick(rng, names) : 'a'
  const draw = rng()
  if (draw < 0.2) delete node[name]
  else if (draw < 0.7) node[name] = structuredClone(pick(rng, strangers))
  else if (draw < 0.8) node[name] = [node[name], node[name]]
  else if (draw < 0.9)
    Object.defineProperty(node, pick(rng, keysToAdd), {
      value: pick(rng, strangers),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  else node[name] = String(node[name])
}

interface Ground {
  readonly workerIds: readonly string[]
}

/** Method, path below the base and the JSON of a write. */
export function mutatedWrite(rng: Rng, { workerIds }: Ground): readonly [string, string, string] {
  const id = pick(rng, workerIds)
  const [method, path, body] = pick(rng, [
    () => [
      'POST',
      '/workers',
      person({ attachments: [document('CSCS Labourer card', { files: [pdf, png] })] }),
    ],
    () => [
      'POST',
      '/workers',
      person({ rightToWork: [document('Passport', { documentNumber: '123456789' })] }),
    ],
    () => ['PATCH', `/workers/${id}`, { ...person(), attachments: [document('CV')] }],
    () => ['PATCH', `/workers/${id}`, { lastName: 'Else', phone: '7700900123', countryCode: '+44' }],
    () => [
      'POST',
      '/files/uploads',
      {
        ...{ resource: 'worker', recordId: id, purpose: 'attachments' },
        ...{ fileName: 'card.pdf', contentType: 'application/pdf', size: 100 },
      },
    ],
  ] as (() => [string, string, Body])[])()
  const copy = structuredClone(body)
  for (let left = 1 + Math.floor(rng() * 3); left > 0; left -= 1) mutate(rng, copy)
  const text = JSON.stringify(copy)
  // Now and then it breaks off, or comes with half a character.
  return [method, path, rng() < 0.03 ? text.slice(0, Math.floor(rng() * text.length)) : text]
}
