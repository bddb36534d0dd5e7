/** Marts side by side: each once, after those it reads, and never more at a time than there are connections. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Mart, martsRead } from '../../src/marts/mart.ts'
import { sideBySide } from '../../src/marts/side-by-side.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { companyMart } from './company-mart.ts'

/** Mart number n reads some of those before it. */
const anyMarts = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { maxLength: 12 }).map(all =>
  all.map((sources, at): Mart => {
    const read = at === 0 ? [] : [...new Set(sources.map(one => `mart.m${one % at}`))]
    return { ...companyMart(`m${at}`), reads: read }
  }),
)

const first = { name: 'first' } as unknown as Engine
const second = { name: 'second' } as unknown as Engine
const server = { ...first, alongside: (work: (other?: Engine) => unknown) => work(second) } as Engine
const crowded = { ...first, alongside: (work: (other?: Engine) => unknown) => work(undefined) } as Engine

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await undefined
}

interface Work {
  readonly begun: string[]
  readonly ended: string[]
  readonly most: number
}

async function worked(
  engine: Engine,
  marts: readonly Mart[],
  lengths: readonly number[] = [],
): Promise<Work> {
  const [begun, ended]: string[][] = [[], []]
  let most = 0
  const busy = new Set<Engine>()
  await sideBySide(engine, marts, async (mart, on) => {
    expect(martsRead(mart).filter(name => !ended?.includes(name))).toEqual([])
    expect(busy.has(on)).toBe(false)
    busy.add(on)
    most = Math.max(most, busy.size)
    begun?.push(mart.name)
    await turns(lengths[begun?.length ?? 0] ?? 3)
    ended?.push(mart.name)
    busy.delete(on)
  })
  return { begun: begun ?? [], ended: ended ?? [], most }
}

describe('marts side by side', () => {
  test('are each built once, after those they read', async () => {
    await fc.assert(
      fc.asyncProperty(anyMarts, fc.array(fc.nat({ max: 40 })), async (marts, lengths) => {
        const { begun, most } = await worked(server, marts, lengths)
        expect(begun.toSorted()).toEqual(marts.map(({ name }) => name).toSorted())
        expect(most).toBeLessThanOrEqual(2)
      }),
    )
  })

  test('are two at a time where the server takes a second connection', async () => {
    const marts = ['a', 'b', 'c'].map(name => companyMart(name))
    expect((await worked(server, marts)).most).toBe(2)
    expect(await worked(crowded, marts)).toMatchObject({ most: 1, begun: ['a', 'b', 'c'] })
    expect(await worked(first, marts)).toMatchObject({ most: 1, begun: ['a', 'b', 'c'] })
  })

  test('end what they have begun when one fails, and begin no other', async () => {
    const marts = ['a', 'b', 'c', 'd'].map(name => companyMart(name))
    const ended: string[] = []
    const work = sideBySide(server, marts, async ({ name }) => {
      await turns(name === 'a' ? 2 : 20)
      if (name === 'a') throw new Error('the disk is full')
      ended.push(name)
    })
    await expect(work).rejects.toThrow('the disk is full')
    expect(ended).toEqual(['b'])
  })
})
