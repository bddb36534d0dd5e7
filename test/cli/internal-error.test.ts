/** Faults that nobody expected are one line: of DuckDB without the addresses that it prints, of the system with what to do. */
import { expect, test } from 'vitest'
import { describeFailure } from '../../src/cli/failure.ts'

const at = { isVerbose: false, signal: new AbortController().signal, keyPlace: () => undefined }

test('the addresses of the stack are left out', () => {
  const said = 'INTERNAL Error: Attempted to access index 0'
  const stack = '\n\nStack Trace:\n\n/lib/libduckdb.so(_ZN6duckdb9Exception+0x5b) [0x7fa90dc4c1eb]\n'
  for (const message of [said, said + stack])
    expect(describeFailure(new Error(message), at).text).toBe(`muster: unexpected Error: ${said}`)
})

test('what the system refuses without naming a path is no unexpected error', () => {
  const failed = (code: string, message: string) =>
    Object.assign(new Error(message), { code, syscall: 'write' })
  const said = (code: string, message: string) => describeFailure(failed(code, message), at).text
  expect(said('ENOSPC', 'ENOSPC: no space left on device, write')).toBe(
    'muster: no space left on device: free some space and run the command again',
  )
  expect(said('EIO', 'EIO: i/o error, read')).toMatch(/^muster: i\/o error: the disk /)
  expect(said('ESPIPE', 'ESPIPE: invalid seek, read')).toMatch(/^muster: unexpected/)
})
