/** A file that several test files need: what one of them is making, the others wait for, and make not a second time. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** `make` leaves the file whole, or not at all: by renaming it. */
export async function madeOnce(file: string, make: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`
  while (!existsSync(file)) {
    try {
      mkdirSync(lock)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await setTimeout(50)
      continue
    }
    try {
      if (!existsSync(file)) await make()
    } finally {
      rmSync(lock, { recursive: true })
    }
  }
}
