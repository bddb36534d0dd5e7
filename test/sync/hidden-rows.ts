/** Records that a service does not show for a while, though they are there. */
import type { StoredRecord } from '../../src/sandbox/record.ts'
import type { World } from '../../src/sandbox/world.ts'
import type { SweptName } from './sweeping.ts'

export class HiddenRows {
  readonly #world: World
  #rows: (readonly [SweptName, StoredRecord])[] = []

  constructor(world: World) {
    this.#world = world
  }

  hide(name: SweptName, ids: readonly string[]): void {
    for (const id of ids) {
      const record = this.#world.get(name, id)
      if (!record) continue
      this.#world.remove(name, id)
      this.#rows.push([name, record])
    }
  }

  show(): void {
    for (const [name, record] of this.#rows.splice(0)) this.#world.upsert(name, record)
  }
}
