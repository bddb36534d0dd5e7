/** Lets this process read another text in the place of a file, which stays as it is. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { packageFile } from '../../../src/lib/package.ts'

const whole = fs.readFileSync

/** `file` is in the package, such as `sql/mart/worker_week.sql`. */
export function withText<Result>(file: string, text: string, work: () => Result): Result {
  const path = packageFile(file)
  fs.readFileSync = ((place: fs.PathOrFileDescriptor, ...rest: [never]) =>
    place === path ? text : whole(place, ...rest)) as typeof fs.readFileSync
  syncBuiltinESMExports()
  try {
    return work()
  } finally {
    fs.readFileSync = whole
    syncBuiltinESMExports()
  }
}
