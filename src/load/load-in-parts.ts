/** Loads pages together where memory allows, and in halves where it does not. */
import { OutOfMemory } from '../lib/errors.ts'
import { collectAfter } from '../lib/garbage.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type Loaded, type LoadRequest, load, type Merging } from './load.ts'

function sum(first: Loaded, second: Loaded): Loaded {
  return {
    records: first.records + second.records,
    inserted: first.inserted + second.inserted,
    changed: first.changed + second.changed,
    removed: first.removed + second.removed,
    unchanged: first.unchanged + second.unchanged,
    quarantined: first.quarantined + second.quarantined,
  }
}

async function whole(engine: Engine, request: LoadRequest, before?: Promise<unknown>): Promise<Merging> {
  try {
    return await load(engine, request, before)
  } catch (error) {
    const { pages, snapshot } = request
    if (!(error instanceof OutOfMemory) || snapshot || pages.length < 2) throw error
    return inHalves(engine, request)
  }
}

async function inHalves(engine: Engine, request: LoadRequest): Promise<Merging> {
  const { pages, commit } = request
  const half = Math.ceil(pages.length / 2)
  const fence = request.fence ?? (async () => undefined)
  const first = await (await whole(engine, { ...request, pages: pages.slice(0, half), commit: fence })).merged
  let all = first
  const { merged } = await whole(engine, {
    ...request,
    pages: pages.slice(half),
    commit: async second => {
      all = sum(first, second)
      await commit(all)
    },
  })
  const both = merged.then(() => all)
  // Told by whoever waits for it, which may be a moment after it fails.
  both.catch(() => undefined)
  return { merged: both }
}

/**
 * Records larger than anybody expected are loaded fewer at a time. The caller's ledger rows commit with the last part,
 * told of all of them: should the process die before, the parts that are written are read again and change nothing. A
 * snapshot is never parted, as what is absent from half of it is not gone.
 *
 * The parts are loaded where the whole was: batches that wait for this one have the other places to stage in.
 */
export async function loadInParts(
  engine: Engine,
  request: LoadRequest,
  before?: Promise<unknown>,
): Promise<Loaded> {
  const { merged } = await engine.staging(engine => whole(engine, request, before))
  const loaded = await merged
  collectAfter(request.pages.reduce((bytes, page) => bytes + page.bytes, 0))
  return loaded
}
