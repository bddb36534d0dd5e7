/** What writes change. */
import type { World } from '../world.ts'
import { FileStore, Uploads } from './storage.ts'
import { WorkerBook } from './worker-book.ts'

export interface Desk {
  readonly workers: WorkerBook
  readonly files: FileStore
  readonly uploads: Uploads
}

export function openDesk(world: World, seed: number): Desk {
  const files = new FileStore()
  return { files, uploads: new Uploads(), workers: new WorkerBook(world, seed, files) }
}
