/** Works on marts in parallel, on several connections: each mart after those it reads. */
import type { Engine } from '../warehouse/engine.ts'
import type { Mart } from './mart.ts'
import { martsRead, withSources } from './mart.ts'
import { referredTo } from './references.ts'

type MartWork = (mart: Mart, engine: Engine) => Promise<void>

/**
 * `marts` are ordered so that each comes after those it reads; one connection keeps that order. When `work` throws, the
 * other connections finish their current mart, then its error is thrown.
 */
async function onConnections(
  marts: readonly Mart[],
  engines: readonly Engine[],
  work: MartWork,
): Promise<void> {
  const waiting = [...marts]
  const underWay = new Map<string, Promise<void>>()
  let hasFailed = false

  const isReady = (mart: Mart): boolean =>
    martsRead(mart).every(name => !underWay.has(name) && !waiting.some(one => one.name === name))

  async function begin(mart: Mart, engine: Engine): Promise<void> {
    waiting.splice(waiting.indexOf(mart), 1)
    const done = work(mart, engine).finally(() => underWay.delete(mart.name))
    underWay.set(mart.name, done)
    await done
  }

  async function takeTurns(engine: Engine): Promise<void> {
    while (waiting.length > 0 && !hasFailed) {
      const mart = waiting.find(isReady)
      await (mart ? begin(mart, engine) : Promise.race(underWay.values()))
    }
  }

  const ends = engines.map(engine =>
    takeTurns(engine).catch((error: unknown) => {
      hasFailed = true
      throw error
    }),
  )
  const failed = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

/**
 * On a server each statement uses one core, so more connections use more cores. Marts that others refer to come first, one by
 * one: exchanging such a table locks the tables that refer to it, one of which might be filling.
 */
export async function sideBySide(engine: Engine, marts: readonly Mart[], work: MartWork): Promise<void> {
  if (!engine.alongside) return onConnections(marts, [engine], work)
  const first = withSources(
    marts,
    marts.filter(referredTo(marts)).map(({ name }) => name),
  )
  await onConnections(first, [engine], work)
  const others = marts.filter(mart => !first.includes(mart))
  await engine.alongside(other => onConnections(others, other ? [engine, other] : [engine], work))
}
